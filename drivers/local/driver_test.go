package local_test

import (
	"log/slog"
	"testing"
	"time"

	"berth/drivers/drivertest"
	"berth/drivers/local"
	"berth/environment"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newDriver(t *testing.T) *local.Driver {
	return local.New(local.Options{Log: slog.New(slog.DiscardHandler), DataDir: t.TempDir(), Now: time.Now})
}

func TestDriver(t *testing.T) {
	drivertest.Run(t, func(t *testing.T) (environment.Driver, environment.Spec) {
		return newDriver(t), environment.Spec{Driver: environment.DriverLocal}
	}, environment.Capabilities{Driver: "local", DisplayName: "Local", Configure: true, Probe: true, Exec: true, Files: true})
}
