package fake_test

import (
	"log/slog"
	"testing"
	"time"

	"berth/drivers/drivertest"
	"berth/drivers/fake"
	"berth/environment"
)

func open(dir string) *fake.Driver {
	return fake.New(fake.Options{Log: slog.New(slog.DiscardHandler), Dir: dir, Now: time.Now})
}

func TestDriver(t *testing.T) {
	drivertest.Run(t, func(t *testing.T) (environment.Driver, environment.Spec) {
		return open(t.TempDir()), environment.Spec{Driver: environment.DriverSandbox, Config: []byte(`{"provider":"fake"}`)}
	}, environment.Capabilities{Driver: "sandbox", Provider: "fake", DisplayName: "Fake", Configure: true, Probe: true, Exec: true, Files: true,
		Resume: true, Shell: true, DeleteImage: true, Identify: true, List: true, TemplateCapture: true, StartupBudgetMs: 120_000})
}
