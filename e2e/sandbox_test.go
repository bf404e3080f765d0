package e2e

import (
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// longWait is enough for a sandbox on a busy machine.
const longWait = 60 * time.Second

func arch() string {
	if runtime.GOARCH == "arm64" {
		return "arm64"
	}
	return "x64"
}

// TestSandbox_Qualifies walks a pinned image through recorded, revoked by an edit
// that is taken back, and recorded again; nothing is left in the engine.
func TestSandbox_Qualifies(t *testing.T) {
	t.Parallel()
	s := newSandboxes(t)
	for libc, made := range map[string]string{"musl": s.engine.Musl(t), "glibc": s.engine.Glibc(t)} {
		digest := s.registry.Push(t, s.engine, made, "team/"+libc+":1")
		image := s.registry.Address + "/team/" + libc + "@" + digest
		env := s.save(t, unique(libc), image, nil)
		v := s.probe(t, env)
		if !v.OK || !v.recorded(t) || v.Diagnostic.Code != "recorded" || v.Details.Platform == nil ||
			*v.Details.Platform != (struct{ OS, Arch, Libc string }{"linux", arch(), libc}) {
			t.Fatalf("%s: %+v, platform %+v", libc, v, v.Details.Platform)
		}
		s.isEmpty(t, env, "after the probe")
		if w := s.native(t, env, "true"); w.Status != "succeeded" {
			t.Errorf("%s natively: %s", libc, w)
		}

		s.patch(t, env, map[string]any{"user": "65534"})
		s.patch(t, env, map[string]any{"user": nil})
		if w := s.native(t, env, "true"); w.Failure == nil || w.Failure.Code != "sandbox_snapshot_qualification_required" {
			t.Errorf("%s after an edit that was taken back: %s", libc, w)
		}
		if v = s.probe(t, env); !v.recorded(t) {
			t.Errorf("%s again: %+v", libc, v)
		}
		if w := s.native(t, env, "true"); w.Status != "succeeded" {
			t.Errorf("%s natively, tested again: %s", libc, w)
		}
		s.patch(t, env, map[string]any{"cpus": 1})
		s.call(t, "PATCH", "/api/environments/"+env, map[string]any{"name": unique("Renamed"), "description": "x"}, nil, 200)
		if w := s.native(t, env, "true"); w.Status != "succeeded" {
			t.Errorf("%s after a plain edit: %s", libc, w)
		}
		s.isEmpty(t, env, "at the end")
	}
}

// TestSandbox_DoesNotQualify: a tag, and an image without any libc, connect.
func TestSandbox_DoesNotQualify(t *testing.T) {
	t.Parallel()
	s := newSandboxes(t)
	digest := s.registry.Push(t, s.engine, s.engine.Busybox(t), "team/static:1")
	musl := s.registry.Push(t, s.engine, s.engine.Musl(t), "team/musl:1")
	for name, test := range map[string]struct{ image, code string }{
		"a tag":   {s.registry.Address + "/team/musl:1", "mutable_image"},
		"no libc": {s.registry.Address + "/team/static@" + digest, "platform_unmeasured"},
	} {
		env := s.save(t, unique(name), test.image, nil)
		v := s.probe(t, env)
		if !v.OK || v.recorded(t) || v.Diagnostic.Code != test.code {
			t.Errorf("%s: %+v", name, v)
		}
		if name == "no libc" && !warns(v, "platform") {
			t.Errorf("%s: no warning in %+v", name, v.Details.Stages)
		}
		s.isEmpty(t, env, name)
		if name != "a tag" {
			continue
		}
		var pinned struct{ Config struct{ Image string } }
		s.call(t, "POST", "/api/environments/"+env+"/pin-image", nil, &pinned, 200)
		if want := test.image + "@" + musl; pinned.Config.Image != want {
			t.Errorf("pinned %q, want %q", pinned.Config.Image, want)
		}
		if v = s.probe(t, env); !v.recorded(t) {
			t.Errorf("pinned: %+v", v)
		}
	}
}

func warns(v verdict, stage string) bool {
	for _, st := range v.Details.Stages {
		if st.Name == stage && st.Status == "warning" {
			return true
		}
	}
	return false
}

// TestSandbox_RunIsThereAndNowhereElse: output comes while the command runs, from
// a container whose name is shown and which is gone afterwards.
func TestSandbox_RunIsThereAndNowhereElse(t *testing.T) {
	t.Parallel()
	s := newSandboxes(t)
	name := unique("Box")
	env := s.save(t, name, s.engine.Busybox(t), nil)
	run := s.begin(t, env, "sh", "-c", "hostname; echo live; while [ ! -e go ]; do sleep 0.05; done; echo done")
	d := &drill{server: s.server, env: env}
	d.prints(t, run, "live\n")
	ids := s.held(t, env)
	if len(ids) != 1 {
		t.Fatalf("the engine holds %v", ids)
	}
	w := s.work(t, run)
	if w.Host == nil || w.Host.BootID != ids[0] || !strings.HasPrefix(ids[0], w.Host.Name) {
		t.Errorf("the run says it is on %+v, the container is %s", w.Host, ids[0])
	}
	if !strings.HasPrefix(s.output(t, run, "stdout"), w.Host.Name+"\n") {
		t.Errorf("the container calls itself %q, the run %q", s.output(t, run, "stdout"), w.Host.Name)
	}
	s.call(t, "POST", "/api/runs/"+run+"/cancel", nil, nil, http.StatusAccepted)
	if w = s.ends(t, run, longWait); w.Status != "cancelled" || w.Lease.Status != "expired" || w.Termination != "proven" {
		t.Errorf("cancelled: %s", w)
	}
	s.isEmpty(t, env, "after the cancellation")

	code, out, errOut := s.cli(t, "", "run", "--env", name, "--", "sh", "-c", "hostname; echo $((6*7)); exit 3")
	if code != 3 || !strings.Contains(out, "42\n") {
		t.Errorf("berth run: %d %q %q", code, out, errOut)
	}
	s.isEmpty(t, env, "after the run")
	leavesNothing(t, run, 5*time.Second)
}

// TestSandbox_ImageDeleted: what was qualified is gone, and nothing that carries
// its name takes its place.
func TestSandbox_ImageDeleted(t *testing.T) {
	t.Parallel()
	s := newSandboxes(t)
	tag := s.registry.Address + "/team/agent:1"
	digest := s.registry.Push(t, s.engine, s.engine.Variant(t, "first"), "team/agent:1")
	env := s.save(t, unique("Agent"), tag+"@"+digest, nil)
	if v := s.probe(t, env); v.OK {
		t.Log(v.Summary) // no libc: qualified or not is told below
	}
	digest = s.registry.Push(t, s.engine, s.engine.Musl(t), "team/agent:1")
	s.patch(t, env, map[string]any{"image": tag + "@" + digest})
	if v := s.probe(t, env); !v.recorded(t) {
		t.Fatalf("%+v", v)
	}
	s.registry.Stop(t)
	s.engine.Untag(t, s.registry.Address+"/team/agent@"+digest)
	s.engine.Tag(t, s.engine.Busybox(t), tag)
	w := s.native(t, env, "true")
	if w.Failure == nil || w.Failure.Code != "image_deleted" {
		t.Errorf("natively: %s", w)
	}
	s.isEmpty(t, env, "after the refusal")
}

// TestSandbox_ForgedRecord: it is refused, and no read tells of the real one.
func TestSandbox_ForgedRecord(t *testing.T) {
	t.Parallel()
	s := newSandboxes(t)
	digest := s.registry.Push(t, s.engine, s.engine.Musl(t), "team/musl:1")
	env := s.save(t, unique("Forged"), s.registry.Address+"/team/musl@"+digest, nil)
	_, before, err := s.try("GET", "/api/environments/"+env, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"platformQualification", "managedByPaperclip", "defaultForInstance"} {
		body := map[string]any{"metadata": map[string]any{key: map[string]any{"status": "valid"}}}
		s.call(t, "PATCH", "/api/environments/"+env, body, nil, 422)
		body["name"], body["driver"], body["config"] = unique("New"), "sandbox", map[string]any{"provider": "docker", "image": "x"}
		s.call(t, "POST", "/api/companies/"+s.company+"/environments", body, nil, 422)
	}
	if _, after, _ := s.try("GET", "/api/environments/"+env, nil); string(after) != string(before) {
		t.Errorf("changed:\n%s\n%s", before, after)
	}
	if w := s.native(t, env, "true"); w.Failure == nil || w.Failure.Code != "sandbox_snapshot_qualification_required" {
		t.Errorf("natively: %s", w)
	}
	if v := s.probe(t, env); !v.recorded(t) {
		t.Fatalf("%+v", v)
	}
	for _, path := range []string{"/api/environments/" + env, "/api/companies/" + s.company + "/environments", "/api/companies/" + s.company + "/activity?format=json"} {
		if _, body, err := s.try("GET", path, nil); err != nil || strings.Contains(strings.ToLower(string(body)), "fingerprint") ||
			strings.Contains(string(body), "platformQ") {
			t.Errorf("GET %s tells of the record, or %v: %s", path, err, body)
		}
	}
}

// TestSandbox_TwoBerthsOnOneEngine: neither touches what is the other's, nor what
// is nobody's.
func TestSandbox_TwoBerthsOnOneEngine(t *testing.T) {
	t.Parallel()
	a := newSandboxes(t, "BERTH_RUN_GRACE=20s")
	b := &sandboxes{server: newServer(t), engine: a.engine, registry: a.registry}
	b.furnish(t, unique("Other"))
	stranger := a.engine.Create(t, a.engine.Busybox(t), map[string]string{"berth.lease": "01990000-0000-7000-8000-000000000001"})
	envA, envB := a.save(t, unique("A"), a.engine.Busybox(t), nil), b.save(t, unique("B"), a.engine.Busybox(t), nil)
	wait := []string{"sh", "-c", "echo up; while [ ! -e go ]; do sleep 0.05; done"}
	runA, runB := a.begin(t, envA, wait...), b.begin(t, envB, wait...)
	(&drill{server: a.server}).prints(t, runA, "up\n")
	(&drill{server: b.server}).prints(t, runB, "up\n")
	a.kill(t)
	a.start(t)
	a.call(t, "POST", "/api/runs/"+runA+"/cancel", nil, nil, http.StatusAccepted)
	if w := a.ends(t, runA, longWait); w.Status != "cancelled" {
		t.Errorf("A's: %s", w)
	}
	if ids := b.held(t, envB); len(ids) != 1 || b.work(t, runB).Status != "running" {
		t.Errorf("B holds %v, its run is %s", ids, b.work(t, runB))
	}
	a.isEmpty(t, envA, "A")
	b.call(t, "POST", "/api/runs/"+runB+"/cancel", nil, nil, http.StatusAccepted)
	b.ends(t, runB, longWait)
	if ids := a.engine.IDs(t, "berth.lease=01990000-0000-7000-8000-000000000001"); len(ids) != 1 || ids[0] != stranger {
		t.Errorf("the stranger: %v", ids)
	}
	a.engine.Remove(t, stranger)
}

// TestSandbox_Reused: the second run finds what the first left, the record tells
// how, and a resume that fails loses nothing.
func TestSandbox_Reused(t *testing.T) {
	t.Parallel()
	s := newSandboxes(t)
	env := s.save(t, unique("Kept"), s.engine.Busybox(t), map[string]any{"reuseLease": true})
	kept := func(run, want string) (lease struct {
		Status, ProviderLeaseID string
		Acquisition             *string
	}) {
		t.Helper()
		w := s.reaches(t, run, longWait, "succeeded")
		until(t, longWait, "lease is kept", func() bool {
			s.call(t, "GET", "/api/environment-leases/"+w.Lease.ID, nil, &lease, 200)
			return lease.Status == "retained"
		})
		if lease.Acquisition == nil || *lease.Acquisition != want {
			t.Errorf("the lease was %v, want %s", lease.Acquisition, want)
		}
		return lease
	}
	first := kept(s.begin(t, env, "sh", "-c", "echo mine > note"), "created")
	run := s.begin(t, env, "cat", "note")
	second := kept(run, "resumed")
	if first.ProviderLeaseID != second.ProviderLeaseID || s.output(t, run, "stdout") != "mine\n" {
		t.Errorf("the second run was in %s and read %q", second.ProviderLeaseID, s.output(t, run, "stdout"))
	}
	ids := s.held(t, env)
	s.engine.Remove(t, ids[0])
	third := kept(s.begin(t, env, "sh", "-c", "test ! -e note"), "replacement")
	if third.ProviderLeaseID == second.ProviderLeaseID {
		t.Error("the replacement is what was gone")
	}
	s.patch(t, env, map[string]any{"workspacePath": "/elsewhere"})
	fourth := kept(s.begin(t, env, "sh", "-c", "test ! -e note"), "created")
	until(t, longWait, "the sandbox of the old configuration goes", func() bool { return len(s.held(t, env)) == 1 })
	var all []struct{ ID, Status, ProviderLeaseID string }
	s.call(t, "GET", "/api/environments/"+env+"/leases", nil, &all, 200)
	for _, l := range all {
		if l.Status == "retained" && l.ProviderLeaseID != fourth.ProviderLeaseID {
			t.Errorf("%+v is kept", l)
		}
	}
	s.call(t, "DELETE", "/api/environments/"+env, nil, nil, 200)
	until(t, longWait, "the deleted environment leaves nothing", func() bool { return len(s.held(t, env)) == 0 })
	t.Log("kept, resumed, replaced and deleted")
}
