package docker_test

import (
	"testing"
	"time"

	"berth/drivers/docker"
	"berth/drivers/drivertest"
	"berth/environment"
)

func capabilities() environment.Capabilities {
	return environment.Capabilities{Driver: environment.DriverSandbox, Provider: environment.ProviderDocker, DisplayName: "Docker",
		Configure: true, Probe: true, Exec: true, Files: true, TemplateCapture: true, Resume: true, Shell: true,
		DeleteImage: true, Identify: true, List: true, StartupBudgetMs: (2 * time.Minute).Milliseconds(),
		Schema: string(docker.New(docker.Options{}).Schema())}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	drivertest.Run(t, func(t *testing.T) (environment.Driver, environment.Spec) {
		e := shared.Engine(t)
		return driver(t, docker.Options{}), specOf(t, e, e.Busybox(t))
	}, capabilities())
}
