package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestJourney_SandboxRun: native work is refused where nothing is qualified, with
// what was typed kept, and starts where it is; output comes live, and a cancelled
// run leaves no container.
func TestJourney_SandboxRun(t *testing.T) {
	t.Parallel()
	s := newSandboxes(t)
	digest := s.registry.Push(t, s.engine, s.engine.Musl(t), "team/run:1")
	name := unique("Runs")
	env := s.save(t, name, s.registry.Address+"/team/run@"+digest, nil)
	b := open(t, s.url, desktop)
	b.expect("422|409")
	b.visit("/companies/" + s.company + "/runs")
	b.inState("#run-form", "ready")
	b.fill("#f-command", "echo natively; hostname")
	b.takesOption("#f-environmentId", env)
	b.reads("#target-"+env, "Native work would be refused")
	b.must(b.find("#f-native").Check(), "natively")
	b.press("Run")
	b.at(`/runs/[0-9a-f-]{36}$`)
	b.inState("#run", "failed")
	b.reads("#run-failure", "sandbox_snapshot_qualification_required")
	s.isEmpty(t, env, "after the refusal")

	if v := s.probe(t, env); !v.recorded(t) {
		t.Fatalf("%+v", v)
	}
	b.visit("/companies/" + s.company + "/runs")
	b.fill("#f-command", "echo natively; while :; do sleep 0.1; done")
	b.takesOption("#f-environmentId", env)
	b.reads("#target-"+env, "Native work may start here.")
	b.must(b.find("#f-native").Check(), "natively")
	b.press("Run")
	b.at(`/runs/[0-9a-f-]{36}$`)
	b.reads("#output", "natively")
	b.inState("#run", "running")
	b.press("Cancel run")
	b.inState("#run", "cancelled")
	s.isEmpty(t, env, "after the cancellation")
}

// TestJourney_SandboxBudget: what is used of a budget is shown, and one that is
// used up is a reason, before a test and before a run.
func TestJourney_SandboxBudget(t *testing.T) {
	t.Parallel()
	s := newSandboxes(t)
	env := s.save(t, unique("Budget"), s.engine.Busybox(t), nil)
	b := open(t, s.url, desktop)
	b.expect("422|409")
	b.visit(pages + "/" + env + "/edit")
	b.opens("#budget")
	b.fill("#f-budget-accountLabel", "Team engine")
	b.fill("#f-budget-maxLeases", "1")
	b.press("Save changes")
	b.at(pages + "/" + env + `(\?.*)?$`)
	b.reads("#test-start", "Team engine")
	run := s.begin(t, env, "sh", "-c", "echo up; while :; do sleep 0.1; done")
	(&drill{server: s.server}).prints(t, run, "up\n")

	b.visit(pages + "/" + env)
	b.inState("#test-start", "exhausted")
	b.must(assertion().Locator(b.find("#begin-test")).ToBeDisabled(), "no test")
	b.visit(pages + "/" + env + "/edit")
	b.reads("#budget-usage", "In use: 1 of 1")
	b.visit("/companies/" + s.company + "/runs")
	b.takesOption("#f-environmentId", env)
	b.reads("#target-"+env, "Team engine")
	b.fill("#f-command", "true")
	b.press("Run")
	b.at(`/runs/[0-9a-f-]{36}$`)
	b.reads("#run-failure", "budget_exhausted")
	s.call(t, "POST", "/api/runs/"+run+"/cancel", nil, nil, http.StatusAccepted)
	s.ends(t, run, longWait)
	b.visit(pages + "/" + env)
	b.inState("#test-start", "ready")
}

// TestJourney_SandboxManaged: what the instance provisions is locked but for its
// variables, needs no qualification, and has no exception left once it is not
// provisioned any more.
func TestJourney_SandboxManaged(t *testing.T) {
	t.Parallel()
	engine := engineOf(t)
	file := filepath.Join(t.TempDir(), "managed.json")
	text := fmt.Sprintf(`{"name":"Provisioned","provider":"docker","config":{"engine":%q,"image":%q,"network":"none"}}`, engine.Host, engine.Musl(t))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newServerWith(t, "--managed-sandbox="+file)
	s.furnish(t, "Managed")
	e, ok := s.named(t, "Provisioned")
	if !ok {
		t.Fatal("it is not there")
	}
	b := open(t, s.url, desktop)
	b.visit(pages + "/" + e.ID)
	b.inState("#qualification-notice", "not_required")
	b.press("Test")
	b.inState("#test", "ready")
	b.visit(pages + "/" + e.ID + "?tab=image")
	b.inState("#qualification", "not_required")
	b.follow("Edit")
	b.inState("#environment-form", "managed")
	b.counts("#f-config-image", 0)
	b.fill("[name='env.0.name']", "TEAM")
	b.fill("[name='env.0.value']", "blue")
	b.press("Save changes")
	b.at(pages + "/" + e.ID + `(\?.*)?$`)
	b.runThere(s, "Provisioned", "echo of $TEAM")
	b.inState("#run", "succeeded")
	b.reads("#output", "of blue")
	if ids := engine.IDs(t, "berth.environment="+e.ID); len(ids) > 0 {
		t.Errorf("the engine holds %v", ids)
	}

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	until(t, longWait, "it is provisioned no more", func() bool {
		var now struct{ Metadata map[string]any }
		s.call(t, "GET", "/api/environments/"+e.ID, nil, &now, 200)
		b.visit(pages + "/" + e.ID)
		n, err := b.find("#qualification-notice[data-state=absent]").Count()
		return err == nil && n == 1
	})
	b.visit(pages + "/" + e.ID + "/edit")
	b.reads("#environment-form", "has no exception left")
}

// TestJourney_SandboxProviderGone: what was made with a provider that this server
// does not offer breaks no page, says why, and is cleaned up (C63).
func TestJourney_SandboxProviderGone(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.furnish(t, "Gone")
	var e environment
	s.call(t, "POST", "/api/companies/"+s.company+"/environments", map[string]any{"name": "Of the fake", "driver": "sandbox",
		"config": map[string]any{"provider": "fake", "image": "team/agent:1"}}, &e, 201)
	s.stop(t)
	s.args = []string{"--dev=false"}
	s.start(t)
	b := open(t, s.url, desktop)
	b.visit(pages)
	b.inState("#env-"+e.ID, "unsupported")
	b.visit(pages + "/" + e.ID)
	b.inState("#environment", "unsupported")
	b.inState("#capability", "unavailable")
	b.reads("#environment", "--dev")
	for _, tab := range []string{"configuration", "image", "leases", "runs", "activity"} {
		b.visit(pages + "/" + e.ID + "?tab=" + tab)
	}
	b.visit(pages + "/" + e.ID + "/edit")
	b.inState("#environment-form", "provider-unavailable")
	b.inState("#f-config-provider-fake-card", "unavailable")
	b.fill("#f-description", "still to be described")
	b.press("Save changes")
	b.at(pages + "/" + e.ID + `(\?.*)?$`)
	b.visit(pages + "/new")
	b.picksDriver("sandbox")
	b.inState("#f-config-provider-fake-card", "unavailable")
	b.must(assertion().Locator(b.find("#f-config-provider-fake")).ToBeDisabled(), "not to be chosen")
	b.visit(pages + "/" + e.ID)
	b.follow("Delete")
	b.press("Delete environment")
	b.at(pages + `(\?.*)?$`)
}
