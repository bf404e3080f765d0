// Package podmantest holds the docker driver against Podman. It is apart so that
// it is tested beside the driver's own tests, as both take their time.
package podmantest

import (
	"encoding/json"
	"testing"
	"time"

	"berth/drivers/docker"
	"berth/drivers/docker/enginetest"
	"berth/drivers/drivertest"
	"berth/environment"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	drivertest.Run(t, func(t *testing.T) (environment.Driver, environment.Spec) {
		e := enginetest.Podman(t)
		d := docker.New(docker.Options{})
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Errorf("close the driver: %v", err)
			}
		})
		config, err := json.Marshal(map[string]any{"provider": "docker", "engine": e.Host, "image": e.Busybox(t), "network": "none"})
		if err != nil {
			t.Fatal(err)
		}
		return d, environment.Spec{Driver: environment.DriverSandbox, Config: config}
	}, environment.Capabilities{Driver: environment.DriverSandbox, Provider: environment.ProviderDocker, DisplayName: "Docker",
		Configure: true, Probe: true, Exec: true, Files: true, TemplateCapture: true, Resume: true, Shell: true,
		DeleteImage: true, Identify: true, List: true, StartupBudgetMs: (2 * time.Minute).Milliseconds()})
}
