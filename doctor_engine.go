package main

import (
	"context"
	"encoding/json"

	"berth/drivers/docker"
	"berth/environment"
	"berth/handlers/cli"
)

// checkEngine asks the engine that a Docker environment uses unless it names
// another. Nothing is made there; that there is none is no fault.
func checkEngine(ctx context.Context) cli.Check {
	c := cli.Check{Name: "Docker or Podman", For: "sandbox"}
	d := docker.New(docker.Options{})
	defer func() { _ = d.Close() }()
	config := json.RawMessage(`{"provider":"docker","image":"berth/doctor","pull":"never"}`)
	d.Probe(ctx, environment.Spec{Driver: environment.DriverSandbox, Config: config}, func(s environment.Stage) {
		if s.Name == "engine" && s.Status != environment.StageRunning {
			c.OK, c.Found, c.Remedy = s.Status == environment.StageOK, s.Message, s.Remediation
		}
	})
	return c
}
