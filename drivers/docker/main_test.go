package docker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"testing"
	"time"

	"berth/drivers/docker"
	"berth/drivers/docker/enginetest"
	"berth/environment"

	"github.com/google/uuid"
	"go.uber.org/goleak"
)

// shared is the engine of the tests that do nothing to it.
var shared enginetest.Shared

func TestMain(m *testing.M) {
	code := m.Run()
	if err := shared.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "end the engine:", err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// driver returns a driver that is closed at the end of the test.
func driver(t testing.TB, o docker.Options) *docker.Driver {
	t.Helper()
	d := docker.New(o)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close the driver: %v", err)
		}
	})
	return d
}

type settings = map[string]any

// specOf is a spec of an engine and an image, with more settings where they are
// given.
func specOf(t testing.TB, e *enginetest.Engine, image string, more ...settings) environment.Spec {
	t.Helper()
	config := settings{"provider": "docker", "engine": e.Host, "image": image, "network": "none"}
	for _, m := range more {
		maps.Copy(config, m)
	}
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	company := environment.NewID()
	return environment.Spec{EnvironmentID: environment.NewID(), Driver: environment.DriverSandbox, Config: text, CompanyID: &company,
		Secrets: map[string]environment.Secret{}, IdempotencyKey: environment.NewID().String(), InstanceID: uuid.New(), OwnerKind: environment.OwnerRun}
}

// acquire makes a sandbox that is destroyed at the end of the test.
func acquire(t testing.TB, d *docker.Driver, spec environment.Spec) environment.Ref {
	t.Helper()
	ref, err := d.Acquire(t.Context(), spec)
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := d.Release(ctx, ref, environment.Destroy); err != nil {
			t.Errorf("release: %v", err)
		}
	})
	return ref
}

// lessThan fails the test when something took longer.
func lessThan(t testing.TB, began time.Time, limit time.Duration) {
	t.Helper()
	if took := time.Since(began); took > limit {
		t.Errorf("it took %s, want at most %s", took, limit)
	}
}
