package environmenttest

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/catalogue"
	"berth/environment/probing"
)

func testOneProbe(t *testing.T, s suite) {
	ctx, e := t.Context(), s.environment("box")
	var all sync.WaitGroup
	got, created, errs := make([]environment.Probe, 8), make([]bool, 8), make([]error, 8)
	for i := range got {
		all.Go(func() { got[i], created[i], errs[i] = s.CreateProbe(ctx, s.probe(e)) })
	}
	all.Wait()
	n := 0
	for i := range got {
		s.must(errs[i])
		if got[i].ID != got[0].ID || got[i].State != environment.ProbeQueued {
			t.Errorf("probe of caller %d: got %s %s, want the one that is under way", i, got[i].ID, got[i].State)
		}
		if created[i] {
			n++
		}
	}
	same(t, "probes created", n, 1)
	if v := s.view(e.ID); v.Active == nil || v.Active.ID != got[0].ID || v.Health() != environment.HealthTesting {
		t.Errorf("environment under test: got %+v", v.Active)
	}
	gone := s.probe(environment.Environment{ID: environment.NewID(), Driver: "ssh"})
	_, _, err := s.CreateProbe(ctx, gone)
	s.code("probe what is not there", err, environment.KindNotFound, environment.CodeEnvironmentNotFound)
}

func testProbeLife(t *testing.T, s suite) {
	ctx, e := t.Context(), s.environment("box")
	p := s.begun(s.probe(e))
	again, err := s.BeginProbe(ctx, p.ID)
	s.must(err)
	if again {
		t.Error("a probe began twice")
	}
	running, err := s.Probe(ctx, p.ID)
	s.must(err)
	if running.State != environment.ProbeRunning || running.StartedAt == nil || running.Deadline.Sub(*running.StartedAt) != 30*time.Second {
		t.Errorf("running probe: got %s, started %v, deadline %v, want 30 s from its start", running.State, running.StartedAt, running.Deadline)
	}
	stage := verdict(p, "").Stages[0]
	stage.Status = environment.StageRunning
	s.must(s.ReportStages(ctx, p.ID, stage))
	stage.Status, stage.Measured = environment.StageOK, map[string]any{"text": "a\x00b\xffc"}
	s.must(s.ReportStages(ctx, p.ID, stage, environment.Stage{Name: "connect", Status: environment.StageRunning}))
	v := s.view(e.ID)
	if v.Active == nil || len(v.Active.Stages) != 2 || v.Active.Stages[0].Status != environment.StageOK {
		t.Fatalf("stages of a running probe: got %+v, want resolve ok and connect running", v.Active)
	}
	want := verdict(p, environment.CodeConnectRefused)
	want.Host, want.Platform = &environment.HostFacts{Name: "h", BootID: "b"}, &environment.Platform{OS: "linux", Arch: "x64"}
	want.Presented = []environment.HostKey{{Type: "ssh-ed25519", Fingerprint: "SHA256:x", KnownHostsLine: "h ssh-ed25519 AAAA"}}
	want.Trusted, want.Deadline = []environment.HostKey{}, running.Deadline
	done, err := s.FinishProbe(ctx, want, environment.QualificationChange{}, by("environment.probed", "environment", e.ID))
	s.must(err)
	same(t, "verdict", done, want)
	late, err := s.FinishProbe(ctx, verdict(p, ""), environment.QualificationChange{}, environment.Activity{})
	s.must(err)
	same(t, "verdict after the end", late, want)
	s.must(s.ReportStages(ctx, p.ID, stage))
	stored, err := s.Probe(ctx, p.ID)
	s.must(err)
	same(t, "stored verdict", stored, want)
	if got := s.view(e.ID); got.Last == nil || got.Last.ID != p.ID || got.Active != nil || got.Health() != environment.HealthUnreachable {
		t.Errorf("environment after its probe: got %+v", got)
	}
	s.probeEvents(p)
}

// probeEvents wants the events of a probe that testProbeLife went through.
func (s suite) probeEvents(p environment.Probe) {
	s.t.Helper()
	events, err := s.Events(s.t.Context(), p.ID, 0, 0)
	s.must(err)
	kinds := []environment.EventKind{}
	for i, e := range events {
		kinds = append(kinds, e.Kind)
		if i > 0 && e.Seq <= events[i-1].Seq {
			s.t.Errorf("events are out of order: %d after %d", e.Seq, events[i-1].Seq)
		}
	}
	same(s.t, "events", kinds, []environment.EventKind{"state", "stage", "stage", "stage", "end"})
	var end environment.ProbeEvent
	s.must(json.Unmarshal(events[4].Payload, &end))
	same(s.t, "end event", end, environment.ProbeEvent{State: environment.ProbeDone, Code: environment.CodeConnectRefused, Health: environment.HealthUnreachable})
	rest, err := s.Events(s.t.Context(), p.ID, events[2].Seq, 1)
	s.must(err)
	if len(rest) != 1 || rest[0].Seq != events[3].Seq {
		s.t.Errorf("one event after the third: got %+v", rest)
	}
}

func testVerdicts(t *testing.T, s suite) {
	ctx := t.Context()
	finish := func(e environment.Environment, change func(*environment.Probe)) environment.Probe {
		v := verdict(s.begun(s.probe(e)), "")
		change(&v)
		done, err := s.FinishProbe(ctx, v, environment.QualificationChange{}, environment.Activity{})
		s.must(err)
		return done
	}
	cancelled := func(p *environment.Probe) { p.State, p.OK = environment.ProbeCancelled, false }
	e := s.environment("box")
	first := finish(e, cancelled)
	if v := s.view(e.ID); v.Last == nil || v.Last.ID != first.ID || v.Health() != environment.HealthInterrupted {
		t.Errorf("first verdict, cancelled: got %+v, want it as the last", v.Last)
	}
	good := finish(e, func(*environment.Probe) {})
	finish(e, cancelled)
	if v := s.view(e.ID); v.Last == nil || v.Last.ID != good.ID || v.Health() != environment.HealthReady || len(v.Recent) != 1 {
		t.Errorf("after a cancelled probe: got last %+v, %d marks, want the good one and its mark", v.Last, len(v.Recent))
	}
	p := s.begun(s.probe(e))
	changed, err := s.UpdateEnvironment(ctx, catalogue.Write{Environment: e, ConfigChanged: true}, e.Revision)
	s.must(err)
	old, err := s.FinishProbe(ctx, verdict(p, environment.CodeToolMissing), environment.QualificationChange{}, environment.Activity{})
	s.must(err)
	if v := s.view(e.ID); v.Last == nil || v.Last.ID != good.ID || v.Health() != environment.HealthChanged {
		t.Errorf("verdict of an older config: got last %+v, want the one before", v.Last)
	}
	page, err := s.Probes(ctx, probing.Filter{EnvironmentID: e.ID})
	s.must(err)
	same(t, "probes in the history", len(page.Items), 4)
	if _, err := s.Probe(ctx, old.ID); err != nil {
		t.Errorf("the older verdict is not in the history: %v", err)
	}
	s.probed(changed, "")
	same(t, "health after a new test", s.view(e.ID).Health(), environment.HealthReady)
	_, err = s.FinishProbe(ctx, s.begun(s.probe(changed)), environment.QualificationChange{}, environment.Activity{})
	s.code("a verdict that is none", err, environment.KindConflict, "probe_state_changed")
}

func testLatencyLine(t *testing.T, s suite) {
	e := s.environment("box")
	for i := range environment.MaxRecent + 3 {
		p := s.probe(e)
		p.CreatedAt = moment(i)
		v := verdict(s.begun(p), "")
		ended := v.StartedAt.Add(time.Duration(i) * time.Millisecond)
		v.FinishedAt = &ended
		_, err := s.FinishProbe(t.Context(), v, environment.QualificationChange{}, environment.Activity{})
		s.must(err)
	}
	recent := s.view(e.ID).Recent
	if len(recent) != environment.MaxRecent || recent[0].DurationMs != 3 || recent[environment.MaxRecent-1].DurationMs != environment.MaxRecent+2 {
		t.Errorf("latency line: got %+v, want the newest %d, oldest first", recent, environment.MaxRecent)
	}
	var seen []time.Time
	cursor := ""
	for {
		page, err := s.Probes(t.Context(), probing.Filter{EnvironmentID: e.ID, Limit: 4, Cursor: cursor})
		s.must(err)
		for _, p := range page.Items {
			seen = append(seen, p.CreatedAt)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	for i, at := range seen {
		if !at.Equal(moment(environment.MaxRecent + 2 - i)) {
			t.Fatalf("history over pages: got %v, want newest first", seen)
		}
	}
	same(t, "probes over pages", len(seen), environment.MaxRecent+3)
}

func testDrafts(t *testing.T, s suite) {
	ctx, e := t.Context(), s.environment("box")
	s.begun(s.probe(e))
	before, err := s.CatalogueRevision(ctx)
	s.must(err)
	for name, ofSaved := range map[string]bool{"of a saved row": true, "of a new row": false} {
		d := s.probe(e)
		d.Draft = true
		if !ofSaved {
			d.EnvironmentID = nil
		}
		done, err := s.FinishProbe(ctx, verdict(s.begun(d), ""), environment.QualificationChange{}, environment.Activity{})
		s.must(err)
		if done.State != environment.ProbeDone || !done.Draft {
			t.Errorf("draft %s: got %+v", name, done)
		}
	}
	if v := s.view(e.ID); v.Last != nil || v.Health() != environment.HealthTesting || len(v.Recent) != 0 {
		t.Errorf("a draft's verdict changed the saved row: %+v", v)
	}
	page, err := s.Probes(ctx, probing.Filter{EnvironmentID: e.ID})
	s.must(err)
	same(t, "probes of the saved row", len(page.Items), 1)
	after, err := s.CatalogueRevision(ctx)
	s.must(err)
	same(t, "catalogue's revision after drafts", after, before)
}

func testOrphanedProbes(t *testing.T, s suite) {
	ctx := t.Context()
	e, ready := s.environment("box"), s.environment("ready")
	s.probed(ready, "")
	p, other := s.begun(s.probe(e)), s.begun(s.probe(ready))
	s.must(s.ReportStages(ctx, p.ID, environment.Stage{Name: "login", Status: environment.StageRunning}))
	n, err := s.InterruptOrphans(ctx, environment.NewID())
	s.must(err)
	same(t, "probes interrupted while their server lives", n, 0)
	s.die()
	n, err = s.InterruptOrphans(ctx, environment.NewID())
	s.must(err)
	same(t, "probes interrupted when it died", n, 2)
	got, err := s.Probe(ctx, p.ID)
	s.must(err)
	if got.State != environment.ProbeInterrupted || got.Code != environment.CodeInterrupted || got.FinishedAt == nil ||
		len(got.Stages) != 1 || got.Stages[0].Status != environment.StageFailed {
		t.Errorf("interrupted probe: got %+v", got)
	}
	same(t, "health of what had no verdict", s.view(e.ID).Health(), environment.HealthInterrupted)
	if v := s.view(ready.ID); v.Health() != environment.HealthReady || v.Last.ID == other.ID {
		t.Errorf("health of what had one: got %s, want ready", v.Health())
	}
	n, err = s.InterruptOrphans(ctx, environment.NewID())
	s.must(err)
	same(t, "probes interrupted again", n, 0)
	told, err := s.Activity(ctx, environment.ActivityFilter{Action: "environment.probe_interrupted"})
	s.must(err)
	same(t, "entries of interrupted probes", len(told.Items), 2)
	for _, a := range told.Items {
		if a.ActorKind != environment.ActorSystem || a.EntityID != e.ID.String() && a.EntityID != ready.ID.String() {
			t.Errorf("the entry of an interrupted probe: %+v", a)
		}
	}
	events, err := s.Events(ctx, p.ID, 0, 0)
	s.must(err)
	same(t, "last event", events[len(events)-1].Kind, environment.EventEnd)
}

func testCancel(t *testing.T, s suite) {
	ctx := t.Context()
	p := s.begun(s.probe(s.environment("box")))
	asked, err := s.CancelAsked(ctx, p.ID)
	s.must(err)
	same(t, "cancel asked before", asked, false)
	wake, stop := s.Subscribe(p.ID)
	defer stop()
	drain(wake)
	for i := range 2 {
		s.must(s.AskCancel(ctx, p.ID, fmt.Sprintf("operator %d", i)))
	}
	woken(t, "a probe that is to stop", wake)
	asked, err = s.CancelAsked(ctx, p.ID)
	s.must(err)
	same(t, "cancel asked", asked, true)
	nobody := environment.NewID()
	s.code("cancel what is not there", s.AskCancel(ctx, nobody, "x"), environment.KindNotFound, "probe_not_found")
	_, err = s.CancelAsked(ctx, nobody)
	s.code("ask about what is not there", err, environment.KindNotFound, "probe_not_found")
	s.code("report to what is not there", s.ReportStages(ctx, nobody, environment.Stage{Name: "x"}), environment.KindNotFound, "probe_not_found")
	_, err = s.Probe(ctx, nobody)
	s.code("read what is not there", err, environment.KindNotFound, "probe_not_found")
	done, err := s.FinishProbe(ctx, verdict(p, ""), environment.QualificationChange{}, environment.Activity{})
	s.must(err)
	s.must(s.AskCancel(ctx, done.ID, "too late"))
}
