package docker_test

import (
	"io"
	"testing"
	"time"

	"berth/drivers/docker"
	"berth/environment"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// bare does what a lease needs by the engine's client alone: make and start a
// container, have a first command answered, remove it.
func bare(b *testing.B, c *client.Client, image string) {
	yes := true
	made, err := c.ContainerCreate(b.Context(), client.ContainerCreateOptions{
		Config:     &container.Config{Image: image, Entrypoint: []string{"/bin/sh", "-c", "sleep 86400 & wait $!"}},
		HostConfig: &container.HostConfig{NetworkMode: "none", Init: &yes, CapDrop: []string{"ALL"}, SecurityOpt: []string{"no-new-privileges"}},
	})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := c.ContainerStart(b.Context(), made.ID, client.ContainerStartOptions{}); err != nil {
		b.Fatal(err)
	}
	run, err := c.ExecCreate(b.Context(), made.ID, client.ExecCreateOptions{Cmd: []string{"echo", "hello"}, AttachStdin: true, AttachStdout: true, AttachStderr: true})
	if err != nil {
		b.Fatal(err)
	}
	attached, err := c.ExecAttach(b.Context(), run.ID, client.ExecAttachOptions{})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, attached.Reader); err != nil {
		b.Fatal(err)
	}
	attached.Close()
	if _, err := c.ContainerRemove(b.Context(), made.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true}); err != nil {
		b.Fatal(err)
	}
}

// leased is the same by the driver: acquire, a first command answered, destroyed.
func leased(b *testing.B, d *docker.Driver, spec environment.Spec) {
	spec.IdempotencyKey = environment.NewID().String()
	ref, err := d.Acquire(b.Context(), spec)
	if err != nil {
		b.Fatal(err)
	}
	result, err := d.Exec(b.Context(), ref, environment.Exec{Marker: environment.NewID().String(), Argv: []string{"echo", "hello"}, Grace: 20 * time.Second,
		Output: func(environment.Stream, int64, []byte) error { return nil }})
	if err != nil || result.ExitCode != 0 {
		b.Fatal(result, err)
	}
	if _, err := d.Release(b.Context(), ref, environment.Destroy); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkLease measures both in turn; "ratio" is what the driver adds.
func BenchmarkLease(b *testing.B) {
	e := shared.Engine(b)
	image := e.Busybox(b)
	c, err := client.New(client.WithHost(e.Host))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	d := driver(b, docker.Options{})
	spec := specOf(b, e, image)
	bare(b, c, image)
	leased(b, d, spec)
	var floor, ours time.Duration
	for b.Loop() {
		began := time.Now()
		bare(b, c, image)
		half := time.Now()
		leased(b, d, spec)
		floor, ours = floor+half.Sub(began), ours+time.Since(half)
	}
	b.ReportMetric(float64(floor.Milliseconds())/float64(b.N), "floor-ms")
	b.ReportMetric(float64(ours.Milliseconds())/float64(b.N), "lease-ms")
	b.ReportMetric(float64(ours)/float64(floor), "ratio")
}
