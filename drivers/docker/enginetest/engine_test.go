package enginetest_test

import (
	"os"
	"testing"

	"berth/drivers/docker/enginetest"
)

var shared enginetest.Shared

func TestMain(m *testing.M) {
	code := m.Run()
	if err := shared.Close(); err != nil {
		println("end the shared engine:", err.Error())
		code = 1
	}
	os.Exit(code)
}

func TestImages(t *testing.T) {
	e := shared.Engine(t)
	for name, make := range map[string]func(testing.TB) string{
		"busybox": e.Busybox, "musl": e.Musl, "glibc": e.Glibc, "non-root": e.NonRoot, "no shell": e.NoShell, "unhealthy": e.Unhealthy} {
		t.Run(name, func(t *testing.T) {
			id := e.Create(t, make(t), map[string]string{"test": "images"})
			if ids := e.IDs(t, "test=images"); len(ids) != 1 || ids[0] != id {
				t.Errorf("got %v, want %s", ids, id)
			}
			e.Remove(t, id)
		})
	}
}

func TestRestart(t *testing.T) {
	e := enginetest.Start(t, enginetest.Options{TLS: true, DiskMiB: 64})
	id := e.Create(t, e.Busybox(t), nil)
	e.Restart(t)
	if got := e.Containers(t); len(got) != 1 || got[0].ID != id || got[0].State != "exited" {
		t.Errorf("got %+v, want %s, exited", got, id)
	}
	e.FillDisk(t)
	e.FreeDisk(t)
}
