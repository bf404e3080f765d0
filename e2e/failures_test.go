package e2e

import (
	"path/filepath"
	"strconv"
	"testing"

	"berth/drivers/ssh/sshdtest"
)

// change patches an environment's settings.
func (s *server) change(t *testing.T, id string, config map[string]any) {
	t.Helper()
	s.call(t, "PATCH", "/api/environments/"+id, map[string]any{"config": config}, nil, 200)
}

// TestJourney_Unreachable: nothing listens; the page names target, port and
// layer, and never calls it unfit.
func TestJourney_Unreachable(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("Unreachable")
	s.remove(t, name)
	id := host.save(t, s, name)
	host.Kill()
	b := open(t, s.url, desktop)
	b.visit(pages + "/" + id)
	b.press("Test")
	b.inState("#test", "unreachable")
	b.reads("#test .verdict", strconv.Itoa(host.Port))
	b.reads("#test", "Nothing listens")
	host.Start()
	b.press("Test")
	b.inState("#test", "ready")
}

func TestJourney_LoginRefused(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("Refused")
	s.remove(t, name)
	id := host.save(t, s, name)
	right := host.PrivateKey
	other := sshdtest.Keygen(t, filepath.Join(host.Dir, "other"), "-t", "ed25519", "-N", "")
	s.change(t, id, map[string]any{"privateKey": other})
	b := open(t, s.url, desktop)
	b.visit(pages + "/" + id)
	b.press("Test")
	b.inState("#test", "auth-failed")
	b.reads("#test", host.User)
	b.follow("Edit")
	b.fillKey(right)
	b.press("Test")
	b.inState("#test", "ready")
	b.press("Save changes")
	b.at(pages + "/" + id + `(\?.*)?$`)
}

// TestJourney_HostKeyChanged: a rebuilt host is not trusted until somebody says
// so a second time.
func TestJourney_HostKeyChanged(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("Rebuilt")
	s.remove(t, name)
	id := host.save(t, s, name)
	before := host.fingerprint()
	host.rebuild()
	b := open(t, s.url, desktop)
	b.visit(pages + "/" + id)
	b.press("Test")
	b.inState("#test", "host-key-changed")
	b.reads("#test", before)
	b.reads("#test", host.fingerprint())
	b.follow("Review key")
	b.inState("#trust", "replace")
	b.must(b.page.GetByLabel(host.fingerprint()).Check(), "choose the key")
	b.must(b.find("#trust input[name=replace]").Check(), "confirm")
	b.press("Replace the trusted key")
	b.misses("#trust")
	b.press("Test")
	b.inState("#test", "ready")
}

// TestJourney_HostKeyUnknownInTheForm trusts a key that a draft's test showed.
func TestJourney_HostKeyUnknownInTheForm(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("Unknown key")
	s.remove(t, name)
	b := open(t, s.url, desktop)
	b.visit(pages + "/new")
	b.fillForm(host, name)
	b.press("Test")
	b.inState("#test", "host-key-unknown")
	b.reads("#test", host.fingerprint())
	b.must(b.find("#test button[data-pin*='ssh-ed25519']").Click(), "trust the key")
	b.press("Test")
	b.inState("#test", "ready")
	if _, ok := s.named(t, name); ok {
		t.Error("testing a draft saved it")
	}
}

// TestJourney_CancelTest ends a test that hangs.
func TestJourney_CancelTest(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("Hanging")
	s.remove(t, name)
	g := newGate(t, host.Addr())
	g.shut()
	t.Cleanup(g.reopen)
	id := host.save(t, s, name)
	s.change(t, id, map[string]any{"port": g.port})
	b := open(t, s.url, desktop)
	b.visit(pages + "/" + id)
	b.press("Test")
	b.inState("#test-stages", "running")
	b.visit(pages + "/" + id) // a page that comes later shows it too
	b.inState("#test", "running")
	b.press("Cancel the test")
	b.inState("#test", "cancelled")
}

// TestJourney_RunOnUnreachableTarget: it fails with the probe's code and runs
// nowhere else.
func TestJourney_RunOnUnreachableTarget(t *testing.T) {
	s, host := site(t), newHost(t)
	name := unique("Gone")
	s.remove(t, name)
	host.save(t, s, name)
	host.Kill()
	b := open(t, s.url, desktop)
	b.runThere(s, name, "echo nowhere")
	b.inState("#run-summary", "failed")
	b.reads("#run-failure", "connect_refused")
	b.reads("#run-failure", strconv.Itoa(host.Port))
}
