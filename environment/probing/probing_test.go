package probing_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"
	"berth/environment/catalogue"
	"berth/environment/environmenttest"
	"berth/environment/probing"

	"github.com/google/uuid"
)

func TestProbe_succeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 2)
		env := b.env("ssh", "box", environment.StatusActive)
		company := environment.NewID()
		started, err := b.Start(t.Context(), operator, env.ID, &company)
		if err != nil {
			t.Fatal(err)
		}
		if started.State != environment.ProbeQueued || started.Target != "u@h:22" || len(started.Stages) != 10 {
			t.Errorf("started %+v, want a queued row with its target and ten stages", started)
		}
		p := b.wait(started.ID)
		if !p.OK || p.State != environment.ProbeDone || p.Code != "" || b.health(env.ID) != environment.HealthReady {
			t.Errorf("got %+v, health %s; want done and ready", p, b.health(env.ID))
		}
		activity, err := b.store.Activity(t.Context(), environment.ActivityFilter{})
		if err != nil || len(activity.Items) == 0 || activity.Items[0].Action != "environment.probed" || activity.Items[0].Details["ok"] != true {
			t.Errorf("activity %+v, %v; want environment.probed", activity.Items, err)
		}
	})
}

func TestProbe_verdicts(t *testing.T) {
	type script = func(context.Context, environment.Spec, func(environment.Stage)) environment.ProbeResult
	tests := map[string]struct {
		script script
		code   string
		stage  string // its status must be
		status environment.StageStatus
		health environment.Health
	}{
		"fails with a code": {func(_ context.Context, _ environment.Spec, report func(environment.Stage)) environment.ProbeResult {
			report(environment.Stage{Name: "connect", Status: environment.StageFailed, Code: environment.CodeConnectRefused})
			return environment.ProbeResult{Code: environment.CodeConnectRefused, Summary: "u@h:22: refused"}
		}, environment.CodeConnectRefused, "login", environment.StageSkipped, environment.HealthUnreachable},
		"says only which stage failed": {func(_ context.Context, _ environment.Spec, report func(environment.Stage)) environment.ProbeResult {
			report(environment.Stage{Name: "login", Status: environment.StageFailed, Code: environment.CodeLoginRefused, Message: "refused"})
			return environment.ProbeResult{}
		}, environment.CodeLoginRefused, "login", environment.StageFailed, environment.HealthUnfit},
		"lies: ok with a failed stage": {func(_ context.Context, _ environment.Spec, report func(environment.Stage)) environment.ProbeResult {
			report(environment.Stage{Name: "login", Status: environment.StageFailed, Code: environment.CodeLoginRefused})
			return environment.ProbeResult{OK: true}
		}, environment.CodeLoginRefused, "login", environment.StageFailed, environment.HealthUnfit},
		"lies: ok in the middle of a stage": {func(_ context.Context, _ environment.Spec, report func(environment.Stage)) environment.ProbeResult {
			report(environment.Stage{Name: "login", Status: environment.StageRunning})
			return environment.ProbeResult{OK: true}
		}, "internal", "login", environment.StageFailed, environment.HealthUnfit},
		"panics": {func(_ context.Context, _ environment.Spec, report func(environment.Stage)) environment.ProbeResult {
			report(environment.Stage{Name: "shell", Status: environment.StageRunning})
			panic("boom")
		}, "internal", "shell", environment.StageFailed, environment.HealthUnfit},
		"hangs until its time is over": {silent, environment.CodeTimedOut, "greeting", environment.StageFailed, environment.HealthUnreachable},
		"never returns": {func(ctx context.Context, s environment.Spec, report func(environment.Stage)) environment.ProbeResult {
			silent(ctx, s, report)
			time.Sleep(time.Hour) // of the bubble's clock
			report(environment.Stage{Name: "clock", Status: environment.StageOK})
			return environment.ProbeResult{OK: true}
		}, environment.CodeTimedOut, "clock", environment.StageSkipped, environment.HealthUnreachable},
		"keeps its own code at the deadline": {func(ctx context.Context, s environment.Spec, report func(environment.Stage)) environment.ProbeResult {
			silent(ctx, s, report)
			report(environment.Stage{Name: "greeting", Status: environment.StageFailed, Code: environment.CodeGreetingTimeout})
			return environment.ProbeResult{Code: environment.CodeGreetingTimeout, Summary: "u@h:22: silent"}
		}, environment.CodeGreetingTimeout, "greeting", environment.StageFailed, environment.HealthUnreachable},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBed(t, 2)
				b.driver.play(test.script)
				env := b.env("ssh", "box", environment.StatusActive)
				p := b.wait(b.start(env.ID).ID)
				if p.OK || p.State != environment.ProbeDone || p.Code != test.code || p.Summary == "" {
					t.Errorf("verdict ok=%v state=%s code=%q summary=%q, want code %q", p.OK, p.State, p.Code, p.Summary, test.code)
				}
				if got := stageOf(p, test.stage).Status; got != test.status {
					t.Errorf("stage %s is %s, want %s", test.stage, got, test.status)
				}
				for _, s := range p.Stages {
					if s.Status == environment.StageRunning || s.Status == environment.StageWaiting {
						t.Errorf("stage %s is still %s", s.Name, s.Status)
					}
				}
				if got := b.health(env.ID); got != test.health {
					t.Errorf("health %s, want %s", got, test.health)
				}
				if took := p.DurationMs(); took > 33_000 {
					t.Errorf("took %d ms, beyond its limit", took)
				}
				time.Sleep(2 * time.Hour) // the one that never returned does
			})
		})
	}
}

func TestC80_ControlBytesFromTheTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 1)
		b.driver.play(func(_ context.Context, _ environment.Spec, report func(environment.Stage)) environment.ProbeResult {
			report(environment.Stage{Name: "platform", Status: environment.StageOK, Message: "a\x00b\xff", Measured: map[string]any{"os": "a\x00b", "list": []string{"\xff"}}})
			return environment.ProbeResult{OK: true, Summary: "ok\x00", Host: &environment.HostFacts{Name: "h\x00"}}
		})
		p := b.wait(b.start(b.env("ssh", "box", environment.StatusActive).ID).ID)
		s := stageOf(p, "platform")
		if s.Message != "a\uFFFDb\uFFFD" || s.Measured["os"] != "a\uFFFDb" || p.Summary != "ok\uFFFD" || p.Host.Name != "h\uFFFD" {
			t.Errorf("got %+v, %q, %+v; want every control byte replaced", s, p.Summary, p.Host)
		}
	})
}

func TestStart_refusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 1)
		tests := map[string]struct {
			actor environment.Actor
			id    uuid.UUID
			code  string
		}{
			"nobody":               {environment.Actor{}, b.env("ssh", "a", environment.StatusActive).ID, "unauthenticated"},
			"no such environment":  {operator, environment.NewID(), environment.CodeEnvironmentNotFound},
			"archived":             {operator, b.env("ssh", "b", environment.StatusArchived).ID, environment.CodeEnvironmentInactive},
			"driver not installed": {operator, b.env("gone", "c", environment.StatusActive).ID, environment.CodeProviderUnavailable},
			"driver cannot":        {operator, b.env("mute", "d", environment.StatusActive).ID, "unsupported"},
		}
		for name, test := range tests {
			if _, err := b.Start(t.Context(), test.actor, test.id, nil); environment.CodeOf(err) != test.code {
				t.Errorf("%s: got %v, want code %s", name, err, test.code)
			}
		}
		b.stop()
		if _, err := b.Start(t.Context(), operator, b.env("ssh", "e", environment.StatusActive).ID, nil); environment.KindOf(err) != environment.KindUnavailable {
			t.Errorf("after the end: %v, want unavailable", err)
		}
		early := probing.New(b.store, b.specs, nil, b.drivers(), b.store, probing.Options{}, time.Now, nil)
		if _, err := early.Start(t.Context(), operator, b.env("ssh", "f", environment.StatusActive).ID, nil); environment.KindOf(err) != environment.KindUnavailable {
			t.Errorf("before Run: %v, want unavailable", err)
		}
	})
}

func TestStart_doubleClick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 2)
		b.driver.play(silent)
		env := b.env("ssh", "box", environment.StatusActive)
		first, second := b.start(env.ID), b.start(env.ID)
		if first.ID != second.ID {
			t.Errorf("two probes under way, want the first one twice")
		}
		b.wait(first.ID)
		if calls, _ := b.driver.seen(); calls != 1 {
			t.Errorf("driver was asked %d times, want once", calls)
		}
		if third := b.start(env.ID); third.ID == first.ID {
			t.Error("an ended probe was given for a new one")
		}
	})
}

// TestStart_afterAnEdit: a test that began before the edit says nothing about
// what is saved now, so it is ended and not given for the new one.
func TestStart_afterAnEdit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 2)
		b.driver.play(silent)
		env := b.env("ssh", "box", environment.StatusActive)
		first := b.start(env.ID)
		if _, err := b.store.UpdateEnvironment(t.Context(), catalogue.Write{Environment: env, ConfigChanged: true}, env.Revision); err != nil {
			t.Fatal(err)
		}
		second := b.start(env.ID)
		if second.ID == first.ID {
			t.Fatal("the probe of the old config was given for the new one")
		}
		if got := b.get(first.ID).State; got != environment.ProbeCancelled {
			t.Errorf("the old probe is %s, want cancelled", got)
		}
		if second.ConfigRevision != env.Revision+1 {
			t.Errorf("the new probe is of revision %d, want %d", second.ConfigRevision, env.Revision+1)
		}
	})
}

func TestStart_waitsForASlotAndCountsFromItsBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 2)
		b.driver.play(silent)
		var last environment.Probe
		for i := range 6 {
			last = b.start(b.env("ssh", string(rune('a'+i)), environment.StatusActive).ID)
		}
		p := b.wait(last.ID)
		if _, most := b.driver.seen(); most != 2 {
			t.Errorf("%d at once, want 2", most)
		}
		if p.Code != environment.CodeTimedOut || p.DurationMs() < 29_000 {
			t.Errorf("last probe: code %s after %d ms, want its own 30 s", p.Code, p.DurationMs())
		}
	})
}

func TestStart_doesNotEndWithTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 1)
		b.driver.play(func(ctx context.Context, s environment.Spec, report func(environment.Stage)) environment.ProbeResult {
			time.Sleep(time.Second)
			return content(ctx, s, report)
		})
		request, hangUp := context.WithCancel(t.Context())
		p, err := b.Start(request, operator, b.env("ssh", "box", environment.StatusActive).ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		hangUp()
		if got := b.wait(p.ID); !got.OK {
			t.Errorf("got %+v, want a verdict although the caller hung up", got)
		}
	})
}

func TestStartDraft_neverChangesTheSavedRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 2)
		env := b.env("ssh", "box", environment.StatusActive)
		b.wait(b.start(env.ID).ID)
		b.driver.play(func(context.Context, environment.Spec, func(environment.Stage)) environment.ProbeResult {
			return environment.ProbeResult{Code: environment.CodeLoginRefused, Summary: "no", Pin: "h ssh-ed25519 AAAA"}
		})
		p, err := b.StartDraft(t.Context(), operator, nil, &env.ID, environment.Draft{Driver: "ssh", Config: map[string]json.RawMessage{"host": nil}})
		if err != nil {
			t.Fatal(err)
		}
		p = b.wait(p.ID)
		if !p.Draft || p.OK || b.health(env.ID) != environment.HealthReady || len(b.specs.pinned()) != 0 {
			t.Errorf("draft %+v, health %s, pins %v; want the row untouched", p, b.health(env.ID), b.specs.pinned())
		}
		activity, err := b.store.Activity(t.Context(), environment.ActivityFilter{})
		entry := activity.Items[0]
		if err != nil || entry.Action != "environment.probed_unsaved" || entry.EntityID != "unsaved" ||
			entry.Details["configTopLevelKeyCount"] != 1 || entry.Details["environmentId"] != env.ID.String() {
			t.Errorf("activity %+v, %v; want environment.probed_unsaved of unsaved values", entry, err)
		}
	})
}

func TestProbe_pinsBeforeTheVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 1)
		b.driver.play(func(ctx context.Context, s environment.Spec, report func(environment.Stage)) environment.ProbeResult {
			r := content(ctx, s, report)
			r.Pin = "h ssh-ed25519 AAAA"
			return r
		})
		env := b.env("ssh", "box", environment.StatusActive)
		b.wait(b.start(env.ID).ID)
		if len(b.specs.pinned()) != 1 || b.health(env.ID) != environment.HealthReady {
			t.Errorf("pins %v, health %s; want one pin and a current verdict", b.specs.pinned(), b.health(env.ID))
		}
	})
}

func TestStartAll_leavesOutWhatCannot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 4)
		b.env("ssh", "a", environment.StatusActive)
		b.env("ssh", "b", environment.StatusActive)
		b.env("ssh", "archived", environment.StatusArchived)
		b.env("local", "Local", environment.StatusActive)
		b.env("mute", "c", environment.StatusActive)
		b.env("gone", "d", environment.StatusActive)
		started, _, err := b.StartAll(t.Context(), operator, nil)
		if err != nil || len(started) != 2 {
			t.Errorf("started %d, %v; want the two that can", len(started), err)
		}
		for _, p := range started {
			b.wait(p.ID)
		}
	})
}

func TestCancel_fromAnotherServer(t *testing.T) {
	for name, queued := range map[string]bool{"running": false, "queued": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBed(t, 1)
				b.driver.play(silent)
				env := b.env("ssh", "box", environment.StatusActive)
				if queued {
					b.start(b.env("ssh", "first", environment.StatusActive).ID)
					synctest.Wait()
				}
				p := b.start(env.ID)
				synctest.Wait()
				other := probing.New(b.store, b.specs, nil, b.drivers(), b.store, probing.Options{Owner: environment.NewID()}, time.Now, nil)
				if _, err := other.Cancel(t.Context(), operator, p.ID); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				got := b.get(p.ID)
				if got.State != environment.ProbeCancelled || got.OK || got.Code != "" {
					t.Errorf("got %+v, want cancelled at once", got)
				}
				if again, err := other.Cancel(t.Context(), operator, p.ID); err != nil || again.State != environment.ProbeCancelled {
					t.Errorf("cancel again: %v, %v; want no error", again.State, err)
				}
			})
		})
	}
}

// The server dies (its goroutines are never heard of again) while a probe runs.
func TestC30_KilledServerLeavesNoProbeRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 1)
		b.driver.play(silent)
		env := b.env("ssh", "box", environment.StatusActive)
		p := b.start(env.ID)
		time.Sleep(2 * time.Second)
		dead := b.stop
		b.serve(1) // on the same data folder: the earlier one is dead
		time.Sleep(3 * time.Second)
		if got := b.get(p.ID); got.State != environment.ProbeInterrupted || b.health(env.ID) != environment.HealthInterrupted {
			t.Errorf("state %s, health %s; want interrupted", got.State, b.health(env.ID))
		}
		b.driver.play(content)
		if again := b.wait(b.start(env.ID).ID); !again.OK || b.health(env.ID) != environment.HealthReady {
			t.Errorf("then %+v, health %s; want the button to work at once and clear the failure", again, b.health(env.ID))
		}
		dead() // what the dead one would still have written changes nothing
		if got := b.get(p.ID); got.State != environment.ProbeInterrupted || b.health(env.ID) != environment.HealthReady {
			t.Errorf("state %s, health %s after the ghost; want them unchanged", got.State, b.health(env.ID))
		}
	})
}

// The database was away, and the first to come by is this server's own sweep.
func TestTick_interruptsNoProbeOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 1)
		b.driver.play(silent)
		p := b.start(b.env("ssh", "box", environment.StatusActive).ID)
		synctest.Wait()
		if err := b.store.RetireServer(t.Context(), b.owner); err != nil {
			t.Fatal(err)
		}
		if n, err := b.Tick(t.Context()); n != 0 || err != nil || b.get(p.ID).State != environment.ProbeRunning {
			t.Errorf("%d interrupted, %v, state %s; want the probe to go on", n, err, b.get(p.ID).State)
		}
	})
}

func TestRun_orderlyStopInterruptsItsProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 1)
		b.driver.play(silent)
		running := b.start(b.env("ssh", "a", environment.StatusActive).ID)
		queued := b.start(b.env("ssh", "b", environment.StatusActive).ID)
		synctest.Wait()
		began := time.Now()
		b.stop()
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("stop took %s", took)
		}
		for _, id := range []uuid.UUID{running.ID, queued.ID} {
			if got := b.get(id); got.State != environment.ProbeInterrupted {
				t.Errorf("state %s, want interrupted", got.State)
			}
		}
		page, err := b.store.Activity(context.Background(), environment.ActivityFilter{Action: "environment.probe_interrupted"})
		if err != nil || len(page.Items) != 2 || page.Items[0].ActorKind != environment.ActorSystem {
			t.Errorf("activity %+v, %v; want the system's word on both", page.Items, err)
		}
	})
}

func TestProbe_verdictSurvivesADatabaseThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 1)
		b.driver.play(func(ctx context.Context, s environment.Spec, report func(environment.Stage)) environment.ProbeResult {
			b.faulty.setAway(true)
			return content(ctx, s, report)
		})
		p := b.start(b.env("ssh", "box", environment.StatusActive).ID)
		time.Sleep(20 * time.Second)
		b.faulty.setAway(false)
		if got := b.wait(p.ID); !got.OK || len(got.Stages) != 10 || got.Stages[9].Status != environment.StageOK {
			t.Errorf("got %+v, want the whole verdict", got)
		}
	})
}

var _ probing.Store = (*environmenttest.Store)(nil)

// The server stops in the moment in which the driver is done: what it found is
// kept.
func TestRun_orderlyStopKeepsAVerdictThatIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 1)
		b.driver.play(func(ctx context.Context, s environment.Spec, report func(environment.Stage)) environment.ProbeResult {
			<-ctx.Done()
			return content(ctx, s, report)
		})
		p := b.start(b.env("ssh", "box", environment.StatusActive).ID)
		synctest.Wait()
		b.stop()
		if got := b.get(p.ID); got.State != environment.ProbeDone || !got.OK {
			t.Errorf("state %s, ok %t; want the verdict", got.State, got.OK)
		}
	})
}
