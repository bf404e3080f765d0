package e2e

import (
	"net/http"
	"testing"

	"berth/drivers/docker/enginetest"
)

const leasePages = "/company/settings/instance/leases"

// leasesOf visits the instance's leases, those of one environment.
func (b *tab) leasesOf(environment, more string) {
	b.t.Helper()
	b.visit(leasePages + "?environment=" + environment + more)
}

// keptLease runs something that leaves its sandbox behind, and returns the lease.
func (s *sandboxes) keptLease(t *testing.T, environment string) string {
	t.Helper()
	w := s.reaches(t, s.begin(t, environment, "true"), longWait, "succeeded")
	until(t, longWait, "the lease is kept", func() bool {
		var l struct{ Status string }
		s.call(t, "GET", "/api/environment-leases/"+w.Lease.ID, nil, &l, 200)
		return l.Status == "retained"
	})
	return w.Lease.ID
}

// TestJourney_SandboxLeases: what is kept is seen and destroyed after a question,
// what is in use is not, and the list narrows.
func TestJourney_SandboxLeases(t *testing.T) {
	t.Parallel()
	s := newSandboxes(t)
	env := s.save(t, unique("Leased"), s.engine.Busybox(t), map[string]any{"reuseLease": true})
	b := open(t, s.url, desktop)
	b.leasesOf(env, "")
	b.inState("#leases-page", "shown")
	b.inState("#leases", "no-match")
	lease := s.keptLease(t, env)
	b.follow("Show them") // the page says by itself that there is one
	b.inState("#lease-"+lease, "retained")
	b.reads("#lease-"+lease, "nobody; kept after its run")

	b.click("#destroy-" + lease)
	b.inState("#lease-destroy", "ready")
	b.reads("#lease-destroy", "cannot be brought back")
	b.counts("#lease-destroy [data-close]:focus", 1) // not what destroys
	b.follow("Cancel")
	b.misses("#lease-destroy")
	if ids := s.held(t, env); len(ids) != 1 {
		t.Errorf("after Cancel the engine holds %v", ids)
	}
	b.visit(pages + "/" + env)
	b.follow("Delete")
	b.inState("#delete", "ready")
	b.reads("#delete", "kept for reuse is destroyed")
	b.leasesOf(env, "")
	b.click("#destroy-" + lease)
	b.must(b.button("Destroy sandbox").Dblclick(), "double click")
	b.at(leasePages)
	b.reads("#toasts", "destroyed")
	s.isEmpty(t, env, "after the destruction")
	b.leasesOf(env, "")
	b.inState("#lease-"+lease, "expired")

	run := s.begin(t, env, "sh", "-c", "echo up; while :; do sleep 0.1; done")
	(&drill{server: s.server}).prints(t, run, "up\n")
	held := s.work(t, run).Lease.ID
	b.leasesOf(env, "&held=1")
	b.inState("#lease-"+held, "active")
	b.counts("#rows > li", 1)
	b.must(assertion().Locator(b.find("#release-"+held)).ToBeDisabled(), "not to be released")
	b.reads("#lease-"+held+" .reason", "cancel that first")
	b.visit(leasePages + "/" + held + "/destroy")
	b.inState("#lease-destroy", "refused")
	b.follow("Show the run")
	b.inState("#run", "running")
	b.leasesOf(env, "&held=1")
	s.call(t, "POST", "/api/runs/"+run+"/cancel", nil, nil, http.StatusAccepted)
	b.inState("#lease-"+held, "expired")
	b.must(b.find("#f-held").Uncheck(), "all of them")
	b.counts("#rows > li", 2)
	b.takesOption("#f-status", "expired")
	b.at("status=expired")
	b.counts("#rows > li", 2)
	b.must(b.find("#f-dead").Check(), "those that wait")
	b.inState("#leases", "no-match")
	b.follow("Show all")
	b.inState("#leases", "filled")
}

// TestJourney_SandboxCleanup: a clean-up that the engine refused waits on the page,
// goes on at one click, and is confirmed there.
func TestJourney_SandboxCleanup(t *testing.T) {
	t.Parallel()
	s := newSandboxes(t)
	proxy := enginetest.NewProxy(t, s.engine)
	env := saveSandbox(t, s.server, proxy.Host, unique("Stuck"), s.engine.Busybox(t), nil)
	run := s.begin(t, env, "sh", "-c", "echo up; while [ ! -e go ]; do sleep 0.1; done")
	(&drill{server: s.server}).prints(t, run, "up\n")
	held := s.work(t, run).Lease.ID
	b := open(t, s.url, desktop)
	b.leasesOf(env, "")
	b.inState("#lease-"+held, "active")
	proxy.Refuse("DELETE", 1000)
	s.call(t, "POST", "/api/runs/"+run+"/cancel", nil, nil, http.StatusAccepted)
	b.inState("#lease-"+held, "pending_cleanup")
	b.reads("#lease-"+held, "next")
	if ids := s.held(t, env); len(ids) != 1 {
		t.Errorf("the engine holds %v", ids)
	}
	b.visit(pages + "/" + env + "/delete")
	b.inState("#delete", "blocked")
	b.reads("#delete", "still being cleaned up")
	b.leasesOf(env, "&status=pending_cleanup")
	proxy.Relent()
	b.click("#retry-cleanup-" + held)
	b.inState("#lease-"+held, "expired")
	s.isEmpty(t, env, "after the retry")
}
