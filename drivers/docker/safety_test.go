package docker_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"berth/drivers/docker"
	"berth/drivers/docker/enginetest"
	"berth/environment"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

func inspected(t *testing.T, e *enginetest.Engine, id string) container.InspectResponse {
	t.Helper()
	c, err := client.New(client.WithHost(e.Host))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	r, err := c.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Container
}

// run runs a script in a sandbox and returns what it printed.
func run(t testing.TB, d *docker.Driver, ref environment.Ref, script string) string {
	t.Helper()
	var out bytes.Buffer
	result, err := d.Exec(t.Context(), ref, environment.Exec{Marker: environment.NewID().String(), Argv: []string{"sh", "-c", script}, Grace: 20 * time.Second,
		Output: func(_ environment.Stream, _ int64, data []byte) error { out.Write(data); return nil }})
	if err != nil || result.ExitCode != 0 {
		t.Fatalf("%s: %+v, %v, %s", script, result, err, out.String())
	}
	return out.String()
}

func TestSandboxesAreSafeByDefault(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	d := driver(t, docker.Options{})
	spec := specOf(t, e, e.Busybox(t), settings{"labels": settings{"team": "a"}, "env": settings{"COLOUR": "blue"}})
	ref := acquire(t, d, spec)
	c := inspected(t, e, ref.ProviderID)
	h := c.HostConfig
	for name, ok := range map[string]bool{
		"capabilities":      len(h.CapDrop) == 1 && h.CapDrop[0] == "ALL" && len(h.CapAdd) == 0 && !h.Privileged,
		"no new privileges": strings.Join(h.SecurityOpt, " ") == "no-new-privileges",
		"processes":         h.PidsLimit != nil && *h.PidsLimit == 512,
		"init":              h.Init != nil && *h.Init,
		"mounts":            len(h.Binds) == 0 && len(h.Mounts) == 0 && len(c.Mounts) == 0 && len(h.Devices) == 0,
		"restart":           h.RestartPolicy.Name == container.RestartPolicyDisabled,
		"namespaces":        h.PidMode == "" && h.IpcMode != "host" && h.UTSMode == "" && h.NetworkMode == "none",
		"name":              c.Name == "/berth-"+spec.IdempotencyKey,
		"label of instance": c.Config.Labels["berth.instance"] == spec.InstanceID.String(),
		"label of lease":    c.Config.Labels["berth.lease"] == spec.IdempotencyKey,
		"label of owner":    c.Config.Labels["berth.owner"] == "run",
		"label of company":  c.Config.Labels["berth.company"] == spec.CompanyID.String(),
		"label environment": c.Config.Labels["berth.environment"] == spec.EnvironmentID.String(),
		"label of config":   c.Config.Labels["team"] == "a",
		"host":              ref.Host.Name == c.Config.Hostname && ref.Host.BootID == c.ID,
	} {
		if !ok {
			t.Errorf("%s: %+v", name, h)
		}
	}
	text := run(t, d, ref, `grep -E '^(CapEff|NoNewPrivs)' /proc/self/status; echo $COLOUR; ls /var/run/docker.sock 2>/dev/null; pwd; id -u`)
	if want := "CapEff:\t0000000000000000\nNoNewPrivs:\t1\nblue\n/workspace\n0\n"; text != want {
		t.Errorf("inside: got %q, want %q", text, want)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	ref := acquire(t, driver(t, docker.Options{}), specOf(t, e, e.Busybox(t), settings{"cpus": 0.5, "memoryMiB": 64, "pids": 100, "shmMiB": 32, "user": "1000:1000", "workspacePath": "/home/agent/work"}))
	c := inspected(t, e, ref.ProviderID)
	if h := c.HostConfig; h.NanoCPUs != 5e8 || h.Memory != 64<<20 || *h.PidsLimit != 100 || h.ShmSize != 32<<20 || c.Config.User != "1000:1000" || ref.Dir != "/home/agent/work" {
		t.Errorf("got %+v", h)
	}
}

// TestWorkspaceCanBeWritten is with users that are not root, and with a root that
// cannot be written to.
func TestWorkspaceCanBeWritten(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	d := driver(t, docker.Options{})
	for name, tt := range map[string]struct {
		image string
		more  settings
		user  string
	}{
		"root":                         {e.Busybox(t), nil, "0"},
		"another user of the image":    {e.NonRoot(t), nil, "1000"},
		"another user of the config":   {e.Busybox(t), settings{"user": "agent"}, "1000"},
		"a number that nobody has":     {e.Busybox(t), settings{"user": "4321:4321"}, "4321"},
		"read-only root":               {e.Busybox(t), settings{"readOnlyRoot": true, "workspaceMiB": 16}, "0"},
		"read-only root, another user": {e.NonRoot(t), settings{"readOnlyRoot": true}, "1000"},
		"a folder of the image's":      {e.NonRoot(t), settings{"workspacePath": "/home/agent"}, "1000"},
		"a deep folder":                {e.NonRoot(t), settings{"workspacePath": "/a/b/c"}, "1000"},
	} {
		t.Run(name, func(t *testing.T) {
			ref := acquire(t, d, specOf(t, e, tt.image, tt.more))
			if got := run(t, d, ref, "echo written >note && cat note && id -u && printf '#!/bin/sh\necho executed\n' >x && chmod +x x && ./x"); got != "written\n"+tt.user+"\nexecuted\n" {
				t.Errorf("got %q", got)
			}
			if readOnly := tt.more["readOnlyRoot"] != nil; readOnly {
				if got := run(t, d, ref, "touch /etc/x 2>&1 && echo yes; touch /tmp/x && echo tmp"); strings.Contains(got, "yes") || !strings.HasSuffix(got, "tmp\n") {
					t.Errorf("the root: %q", got)
				}
			}
		})
	}
}

func TestDiskThatCannotBeLimited(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	err := refused(t, e, driver(t, docker.Options{}), specOf(t, e, e.Busybox(t), settings{"diskMiB": 64}), environment.CodeCreateFailed)
	if !strings.Contains(err.Remediation, "disk") {
		t.Errorf("it says %q, to do %q", err.Message, err.Remediation)
	}
}

func TestRefStaysWithoutSecrets(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	spec := specOf(t, e, e.Busybox(t))
	spec.Secrets = map[string]environment.Secret{"registryPassword": environment.NewSecret("canary-password")}
	ref := acquire(t, driver(t, docker.Options{}), spec)
	text, err := json.Marshal(ref)
	if err != nil || bytes.Contains(text, []byte("canary")) || ref.ProviderVersion == "" || ref.Image == nil {
		t.Errorf("got %s, %v", text, err)
	}
}
