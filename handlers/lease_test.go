package handlers

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"berth/environment"
	"berth/handlers/api"
)

// leases reads a list of leases.
func (f *front) leases(query string) []api.Lease {
	f.t.Helper()
	var all []api.Lease
	f.want(f.call("GET", "/api/environment-leases"+query, ""), 200, &all)
	return all
}

// keep runs something in a sandbox that is kept afterwards and returns its lease.
func (f *front) keep(name string) api.Lease {
	f.t.Helper()
	f.sandbox.open()
	env := f.createSandbox(name, pinned, `,"reuseLease":true`)
	run := f.ended(f.startRun(env.ID.String(), ""))
	if run.Lease == nil {
		f.t.Fatalf("run %+v", run)
	}
	var lease api.Lease
	eventually(f.t, "the lease to be kept", func() bool {
		f.want(f.call("GET", "/api/environment-leases/"+run.Lease.ID.String(), ""), 200, &lease)
		return lease.Status == string(environment.LeaseRetained)
	})
	return lease
}

// TestLeaseList_instance: the filters, and pages.
func TestLeaseList_instance(t *testing.T) {
	f := newFront(t)
	f.driver.open()
	kept := f.keep("kept")
	host := f.create("host")
	done := f.ended(f.startRun(host, "")).Lease
	f.testSandbox(*kept.EnvironmentID, "")
	if kept.EnvironmentName != "kept" || kept.Acquisition == nil || *kept.Acquisition != environment.AcquisitionCreated || kept.LeasePolicy != "reuse_by_environment" || kept.ExpiresAt == nil {
		t.Errorf("the kept one: %+v", kept)
	}
	for query, want := range map[string]int{
		"": 3, "?held=1": 1, "?held=0": 3, "?dead=1": 0, "?status=retained": 1, "?status=failed": 1, "?ownerKind=probe": 1, "?ownerKind=run": 2,
		"?environmentId=" + host: 1, "?companyId=" + f.company.String(): 3, "?ownerKind=nobody": 0, "?environmentId=" + unknownID(): 0,
	} {
		if got := f.leases(query); len(got) != want {
			t.Errorf("%q lists %d leases, want %d: %+v", query, len(got), want, got)
		}
	}
	if held := f.leases("?held=1"); len(held) == 1 && held[0].ID != kept.ID || done == nil {
		t.Errorf("held: %+v", held)
	}
	first := f.call("GET", "/api/environment-leases?limit=2", "")
	next, _, _ := strings.Cut(strings.TrimPrefix(first.Header.Get("Link"), "<"), ">")
	var rest []api.Lease
	if f.want(f.call("GET", next, ""), 200, &rest); len(rest) != 1 {
		t.Errorf("the next page %q has %+v", next, rest)
	}
	for _, query := range []string{"?status=gone", "?held=maybe", "?dead=2", "?environmentId=x", "?limit=0", "?ownerKind=" + strings.Repeat("x", 61), "?cursor=!"} {
		if a := f.call("GET", "/api/environment-leases"+query, ""); a.Status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, a.Status, a.Body)
		}
	}
}

// TestLeaseActs: a kept sandbox is destroyed; one whose end is not confirmed waits
// and is tried again.
func TestLeaseActs(t *testing.T) {
	f := newFront(t)
	kept, other := f.keep("a"), f.keep("b")
	var l api.Lease
	path := "/api/environment-leases/" + kept.ID.String()
	if f.want(f.call("POST", path+"/destroy", "{}"), 200, &l); !environment.LeaseStatus(l.Status).Ended() || l.CleanupStatus == nil || *l.CleanupStatus != "success" {
		t.Errorf("destroyed: %+v", l)
	}
	if now, _ := f.sandbox.held(); now != 1 {
		t.Errorf("%d sandboxes are left, want the other", now)
	}
	again := f.call("POST", path+"/destroy", "")
	if again.Status != 200 || !strings.Contains(again.Body, `"status":"`+l.Status+`"`) {
		t.Errorf("destroyed twice: %d %s", again.Status, again.Body)
	}
	path = "/api/environment-leases/" + other.ID.String()
	f.sandbox.refuse(environment.CodeEngineUnreachable)
	if f.want(f.call("POST", path+"/release", ""), 200, &l); l.Status != string(environment.LeasePendingCleanup) || l.CleanupError == nil || *l.CleanupError != environment.CodeEngineUnreachable || l.CleanupNextAt == nil {
		t.Errorf("not confirmed: %+v", l)
	}
	if held := f.leases("?held=1"); len(held) != 1 || held[0].ID != other.ID {
		t.Errorf("held: %+v", held)
	}
	f.sandbox.refuse("")
	if f.want(f.call("POST", path+"/retry-cleanup", ""), 200, &l); !environment.LeaseStatus(l.Status).Ended() {
		t.Errorf("tried again: %+v", l)
	}
	if now, _ := f.sandbox.held(); now != 0 {
		t.Errorf("%d sandboxes are left", now)
	}
	for _, verb := range []string{"release", "destroy", "retry-cleanup"} {
		for id, status := range map[string]int{unknownID(): 404, "x": 400} {
			if a := f.call("POST", "/api/environment-leases/"+id+"/"+verb, ""); a.Status != status {
				t.Errorf("%s of %s: %d %s", verb, id, a.Status, a.Body)
			}
		}
		if a := f.call("POST", path+"/"+verb, `{"x":1}`); a.Status != http.StatusBadRequest {
			t.Errorf("%s with a key: %d %s", verb, a.Status, a.Body)
		}
	}
}

// TestLeaseActs_inUse: what works is left alone.
func TestLeaseActs_inUse(t *testing.T) {
	f := newFront(t)
	env := f.createSandbox("box", pinned, "")
	run := f.startRun(env.ID.String(), "")
	eventually(t, "the run to work", func() bool {
		f.want(f.call("GET", "/api/runs/"+run.ID.String(), ""), 200, &run)
		return run.Status == string(environment.RunRunning)
	})
	path := "/api/environment-leases/" + run.Lease.ID.String()
	for verb, code := range map[string]string{"release": "lease_in_use", "destroy": "lease_in_use", "retry-cleanup": "lease_state_changed"} {
		if a := f.call("POST", path+"/"+verb, ""); a.Status != http.StatusConflict || !strings.Contains(a.Body, `"`+code+`"`) {
			t.Errorf("%s: %d %s", verb, a.Status, a.Body)
		}
	}
	var used api.Usage
	if f.want(f.call("GET", "/api/environments/"+env.ID.String()+"/usage", ""), 200, &used); used.ActiveLeases != 1 {
		t.Errorf("used: %+v", used)
	}
	f.sandbox.open()
	f.ended(run)
}

// TestLeaseActs_slow: the caller waits for the provider's word, and hanging up ends
// nothing.
func TestLeaseActs_slow(t *testing.T) {
	f := newFront(t)
	kept := f.keep("a")
	goOn := f.sandbox.slow()
	defer goOn()
	ctx, hangUp := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", f.url+"/api/environment-leases/"+kept.ID.String()+"/destroy", nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			err = resp.Body.Close()
		}
		ended <- err
	}()
	<-f.sandbox.holding
	select {
	case err := <-ended:
		t.Errorf("the answer came before the provider's: %v", err)
	default:
	}
	hangUp()
	if err := <-ended; err == nil {
		t.Error("the call was answered although it was hung up")
	}
	goOn()
	var l api.Lease
	eventually(t, "the lease to end", func() bool {
		f.want(f.call("GET", "/api/environment-leases/"+kept.ID.String(), ""), 200, &l)
		return environment.LeaseStatus(l.Status).Ended()
	})
	if now, _ := f.sandbox.held(); now != 0 {
		t.Errorf("%d sandboxes are left", now)
	}
}

// TestLeaseActs_stopping: who waits is told that the server stops.
func TestLeaseActs_stopping(t *testing.T) {
	f := newFront(t)
	kept := f.keep("a")
	goOn := f.sandbox.slow()
	defer goOn()
	answered := make(chan answer, 1)
	go func() { answered <- f.call("POST", "/api/environment-leases/"+kept.ID.String()+"/destroy", "") }()
	<-f.sandbox.holding
	close(f.stopping)
	if a := <-answered; a.Status != http.StatusServiceUnavailable || !strings.Contains(a.Body, "server_stopping") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// TestC84_DeletingWhatIsInUse: refused with what stands in the way, never a 500;
// once nothing does, history stays readable.
func TestC84_DeletingWhatIsInUse(t *testing.T) {
	f := newFront(t)
	env := f.createSandbox("box", pinned, "")
	id := env.ID.String()
	other := f.create("other")
	for _, name := range []string{"one", "two"} {
		f.want(f.call("POST", "/api/companies/"+f.company.String()+"/agents", `{"name":"`+name+`","defaultEnvironmentId":"`+id+`"}`), 201, nil)
	}
	run := f.startRun(id, "")
	eventually(t, "the run to work", func() bool {
		f.want(f.call("GET", "/api/runs/"+run.ID.String(), ""), 200, &run)
		return run.Status == string(environment.RunRunning)
	})
	var impact api.BlastRadius
	f.want(f.call("GET", "/api/environments/"+id+"/delete-blast-radius", ""), 200, &impact)
	if impact.CanDelete || impact.StaticReferences.AgentDefaultCount != 2 || impact.ActiveRuntimeUse.ActiveLeaseCount != 1 || !impact.ActiveRuntimeUse.HasActiveRuntimeUse {
		t.Errorf("impact %+v", impact)
	}
	for _, query := range []string{"", "?reassignTo=" + other} {
		a := f.call("DELETE", "/api/environments/"+id+query, "")
		if a.Status != http.StatusConflict || !strings.Contains(a.Body, "deleteBlockedReasons") || !strings.Contains(a.Body, "active_use") {
			t.Errorf("%q: %d %s", query, a.Status, a.Body)
		}
	}
	if now, _ := f.sandbox.held(); now != 1 {
		t.Errorf("%d sandboxes, want that of the run", now)
	}
	f.sandbox.open()
	f.ended(run)
	eventually(t, "the sandbox to go", func() bool { now, _ := f.sandbox.held(); return now == 0 })
	if a := f.call("DELETE", "/api/environments/"+id, ""); a.Status != http.StatusConflict || !strings.Contains(a.Body, "agent_default") {
		t.Errorf("with agents: %d %s", a.Status, a.Body)
	}
	f.want(f.call("DELETE", "/api/environments/"+id+"?reassignTo="+other, ""), 200, nil)
	var gone api.Lease
	if f.want(f.call("GET", "/api/environment-leases/"+run.Lease.ID.String(), ""), 200, &gone); gone.EnvironmentID != nil || gone.EnvironmentName != "box" {
		t.Errorf("the lease %+v", gone)
	}
	f.want(f.call("GET", "/api/runs/"+run.ID.String(), ""), 200, nil)
}

// TestC84_DeletingWithASandboxThatIsKept: what was kept is not forgotten, also when
// the engine is away.
func TestC84_DeletingWithASandboxThatIsKept(t *testing.T) {
	f := newFront(t)
	kept := f.keep("box")
	id := kept.EnvironmentID.String()
	var impact api.BlastRadius
	f.want(f.call("GET", "/api/environments/"+id+"/delete-blast-radius", ""), 200, &impact)
	if !impact.CanDelete || impact.ActiveRuntimeUse.ReusableSandboxLeaseCount != 1 || !impact.ActiveRuntimeUse.HasActiveRuntimeUse {
		t.Errorf("impact %+v", impact)
	}
	f.sandbox.refuse(environment.CodeEngineUnreachable)
	f.want(f.call("DELETE", "/api/environments/"+id, ""), 200, nil)
	held := f.leases("?held=1")
	if len(held) != 1 || held[0].ID != kept.ID || held[0].Status != string(environment.LeasePendingCleanup) || held[0].EnvironmentID != nil || held[0].EnvironmentName != "box" {
		t.Fatalf("held %+v", held)
	}
	path := "/api/environment-leases/" + kept.ID.String() + "/retry-cleanup"
	var l api.Lease
	if f.want(f.call("POST", path, ""), 200, &l); l.Status != string(environment.LeasePendingCleanup) || l.CleanupAttempts != 1 {
		t.Errorf("while the engine is away: %+v", l)
	}
	f.sandbox.refuse("")
	if f.want(f.call("POST", path, ""), 200, &l); l.Status != string(environment.LeaseExpired) || *l.CleanupStatus != "success" {
		t.Errorf("afterwards: %+v", l)
	}
	if now, _ := f.sandbox.held(); now != 0 {
		t.Errorf("%d sandboxes are left", now)
	}
}

// TestC71_LeasesOfAnotherCompany: they are asked for by a company's id, and there is
// none of that company, nor anything of it in a list.
func TestC71_LeasesOfAnotherCompany(t *testing.T) {
	h := newHouse(t, "foreign member")
	foreign := h.ask("foreign member", "GET", "/api/environment-leases?companyId="+h.ids[":c"], "")
	random := h.ask("foreign member", "GET", "/api/environment-leases?companyId="+unknownID(), "")
	if foreign.Status != http.StatusNotFound || foreign.Status != random.Status || foreign.Body != random.Body {
		t.Errorf("another company: %d %s\none that is not there: %d %s", foreign.Status, foreign.Body, random.Status, random.Body)
	}
	for actor, want := range map[string]int{"foreign member": 0, "foreign owner": 0, "member": 2, "instance admin": 2} {
		for _, query := range []string{"", "?environmentId=" + h.ids["sandbox environment"]} {
			a := h.ask(actor, "GET", "/api/environment-leases"+query, "")
			if got := strings.Count(a.Body, `"ownerKind"`); a.Status != 200 || query == "" && got != want || want == 0 && got != 0 {
				t.Errorf("%s with %q: %d, %d leases", actor, query, a.Status, got)
			}
		}
	}
}
