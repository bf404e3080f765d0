package e2e

import (
	"net"
	"strconv"
	"testing"
)

// change patches an environment's settings.
func (s *server) change(t *testing.T, id string, config map[string]any) {
	t.Helper()
	s.call(t, "PATCH", "/api/environments/"+id, map[string]any{"config": config}, nil, 200)
}

// TestJourney_Unreachable: nothing listens; the page names target, port and
// layer, and never calls it unfit.
func TestJourney_Unreachable(t *testing.T) {
	s, host := site(t), newSSHD(t)
	name := unique("Unreachable")
	s.remove(t, name)
	id := host.save(t, s, name)
	host.kill(t)
	b := open(t, s.url, desktop)
	b.visit(pages + "/" + id)
	b.press("Test")
	b.inState("#test", "unreachable")
	b.reads("#test .verdict", strconv.Itoa(host.port))
	b.reads("#test", "Nothing listens")
	host.start(t)
	b.press("Test")
	b.inState("#test", "ready")
}

func TestJourney_LoginRefused(t *testing.T) {
	s, host := site(t), newSSHD(t)
	name := unique("Refused")
	s.remove(t, name)
	id := host.save(t, s, name)
	right := host.key
	host.keygen(t, "other")
	other := readFile(t, host.dir, "other")
	s.change(t, id, map[string]any{"privateKey": other})
	b := open(t, s.url, desktop)
	b.visit(pages + "/" + id)
	b.press("Test")
	b.inState("#test", "auth-failed")
	b.reads("#test", host.user)
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
	s, host := site(t), newSSHD(t)
	name := unique("Rebuilt")
	s.remove(t, name)
	id := host.save(t, s, name)
	before := host.fingerprint(t)
	host.kill(t)
	host.newHostKeys(t)
	host.start(t)
	b := open(t, s.url, desktop)
	b.visit(pages + "/" + id)
	b.press("Test")
	b.inState("#test", "host-key-changed")
	b.reads("#test", before)
	b.reads("#test", host.fingerprint(t))
	b.follow("Review key")
	b.inState("#trust", "replace")
	b.must(b.page.GetByLabel(host.fingerprint(t)).Check(), "choose the key")
	b.must(b.find("#trust input[name=replace]").Check(), "confirm")
	b.press("Replace the trusted key")
	b.misses("#trust")
	b.press("Test")
	b.inState("#test", "ready")
}

// TestJourney_HostKeyUnknownInTheForm trusts a key that a draft's test showed.
func TestJourney_HostKeyUnknownInTheForm(t *testing.T) {
	s, host := site(t), newSSHD(t)
	name := unique("Unknown key")
	s.remove(t, name)
	b := open(t, s.url, desktop)
	b.visit(pages + "/new")
	b.fillForm(host, name)
	b.press("Test")
	b.inState("#test", "host-key-unknown")
	b.reads("#test", host.fingerprint(t))
	b.must(b.find("#test button[data-pin*='ssh-ed25519']").Click(), "trust the key")
	b.press("Test")
	b.inState("#test", "ready")
	if _, ok := s.named(t, name); ok {
		t.Error("testing a draft saved it")
	}
}

// TestJourney_CancelTest ends a test that hangs.
func TestJourney_CancelTest(t *testing.T) {
	s, host := site(t), newSSHD(t)
	name := unique("Hanging")
	s.remove(t, name)
	g := newGate(t, net.JoinHostPort(host.host, strconv.Itoa(host.port)))
	g.shut()
	t.Cleanup(g.reopen)
	id := host.save(t, s, name)
	s.change(t, id, map[string]any{"port": g.port})
	b := open(t, s.url, desktop)
	b.visit(pages + "/" + id)
	b.press("Test")
	b.inState("#test", "running")
	b.press("Cancel the test")
	b.inState("#test", "cancelled")
}

// TestJourney_RunOnUnreachableTarget: it fails with the probe's code and runs
// nowhere else.
func TestJourney_RunOnUnreachableTarget(t *testing.T) {
	s, host := site(t), newSSHD(t)
	name := unique("Gone")
	s.remove(t, name)
	host.save(t, s, name)
	host.kill(t)
	b := open(t, s.url, desktop)
	b.runThere(s, name, "echo nowhere")
	b.inState("#run-summary", "failed")
	b.reads("#run-failure", "connect_refused")
	b.reads("#run-failure", strconv.Itoa(host.port))
}
