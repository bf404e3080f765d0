package enginetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// podmanConf is what Podman needs on a machine with cgroups of version 1 or with
// fewer open files than it would like to give.
const podmanConf = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
init_path = "/usr/bin/catatonit"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
`

// Podman runs Podman's service, which speaks the engine's API, until the end of
// the test. Pull from a Registry works, networks other than "none" do not.
func Podman(t testing.TB) *Engine {
	t.Helper()
	e, err := openPodman()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.close(); err != nil {
			t.Errorf("end podman: %v", err)
		}
	})
	return e
}

func openPodman() (_ *Engine, err error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("podman for tests needs root")
	}
	e, err := newEngine("podman")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, clear(e.dir))
		}
	}()
	for name, text := range map[string]string{
		"containers.conf": podmanConf,
		"registries.conf": "unqualified-search-registries = []\n[[registry]]\nprefix = \"127.0.0.1\"\nlocation = \"127.0.0.1\"\ninsecure = true\n",
		"policy.json":     `{"default":[{"type":"insecureAcceptAnything"}]}`,
		"storage.conf":    fmt.Sprintf("[storage]\ndriver = \"vfs\"\ngraphroot = %q\nrunroot = %q\n", filepath.Join(e.dir, "data"), filepath.Join(e.dir, "run")),
	} {
		if err := os.WriteFile(filepath.Join(e.dir, name), []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("write podman's configuration: %w", err)
		}
	}
	e.env = []string{"CONTAINERS_CONF=" + filepath.Join(e.dir, "containers.conf"), "CONTAINERS_REGISTRIES_CONF=" + filepath.Join(e.dir, "registries.conf"),
		"CONTAINERS_STORAGE_CONF=" + filepath.Join(e.dir, "storage.conf"), "XDG_RUNTIME_DIR=" + e.dir, "TMPDIR=" + e.dir}
	e.args = []string{"/usr/bin/podman", "--root", filepath.Join(e.dir, "data"), "--runroot", filepath.Join(e.dir, "run"),
		"--tmpdir", filepath.Join(e.dir, "tmp"), "--storage-driver", "vfs", "--runtime", "runc", "--cgroup-manager", "cgroupfs",
		"system", "service", "--time=0", e.Host}
	return e, e.run()
}
