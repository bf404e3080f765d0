//go:build bench

package bench

import (
	"encoding/json"
	"io"
	"testing"
	"time"

	"berth/drivers/docker"
	"berth/drivers/docker/enginetest"
	"berth/environment"

	"github.com/moby/moby/api/types/container"
	moby "github.com/moby/moby/client"
)

// dockerLease measures a lease from acquire over its first command's answer to
// destroyed, against the same by the engine's bare client: make and start, exec,
// remove.
func dockerLease(t *testing.T) []bar {
	e := enginetest.Start(t, enginetest.Options{})
	image := e.Busybox(t)
	c, err := moby.New(moby.WithHost(e.Host))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	d := docker.New(docker.Options{})
	t.Cleanup(func() { _ = d.Close() })
	config, err := json.Marshal(map[string]any{"provider": "docker", "engine": e.Host, "image": image, "network": "none"})
	if err != nil {
		t.Fatal(err)
	}
	spec := environment.Spec{Driver: environment.DriverSandbox, Config: config, InstanceID: environment.NewID(), OwnerKind: environment.OwnerRun}
	ours, floor := alternate(t, 25, func() time.Duration { return leased(t, d, spec) }, func() time.Duration { return bare(t, c, image) })
	o, f := median(ours), median(floor)
	r := float64(o) / float64(f)
	return []bar{{"Docker lease: acquire, first command answered, destroyed", ms(o), ms(f) + " (the engine's bare client)", ratio(float64(o), float64(f)), "<= 1.15", r <= 1.15}}
}

func leased(t *testing.T, d *docker.Driver, spec environment.Spec) time.Duration {
	t.Helper()
	spec.IdempotencyKey = environment.NewID().String()
	began := time.Now()
	ref, err := d.Acquire(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	result, err := d.Exec(t.Context(), ref, environment.Exec{Marker: environment.NewID().String(), Argv: []string{"echo", "hello"}, Grace: 20 * time.Second,
		Output: func(environment.Stream, int64, []byte) error { return nil }})
	if err != nil || result.ExitCode != 0 {
		t.Fatal(result, err)
	}
	if _, err := d.Release(t.Context(), ref, environment.Destroy); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

func bare(t *testing.T, c *moby.Client, image string) time.Duration {
	t.Helper()
	began, ctx, yes := time.Now(), t.Context(), true
	made, err := c.ContainerCreate(ctx, moby.ContainerCreateOptions{
		Config:     &container.Config{Image: image, Entrypoint: []string{"/bin/sh", "-c", "sleep 86400 & wait $!"}},
		HostConfig: &container.HostConfig{NetworkMode: "none", Init: &yes, CapDrop: []string{"ALL"}, SecurityOpt: []string{"no-new-privileges"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ContainerStart(ctx, made.ID, moby.ContainerStartOptions{}); err != nil {
		t.Fatal(err)
	}
	run, err := c.ExecCreate(ctx, made.ID, moby.ExecCreateOptions{Cmd: []string{"echo", "hello"}, AttachStdin: true, AttachStdout: true, AttachStderr: true})
	if err != nil {
		t.Fatal(err)
	}
	attached, err := c.ExecAttach(ctx, run.ID, moby.ExecAttachOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, attached.Reader); err != nil {
		t.Fatal(err)
	}
	attached.Close()
	if _, err := c.ContainerRemove(ctx, made.ID, moby.ContainerRemoveOptions{Force: true, RemoveVolumes: true}); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}
