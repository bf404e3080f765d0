package probing_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"
	"berth/environment/leasing"
)

func TestSandbox_isTestedInALeaseOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 2)
		env, company := b.box(docker), b.acme()
		started := b.test(env, company)
		if len(started.Stages) != 9 || started.Stages[8].Name != "cleanup" || started.Deadline.Sub(started.CreatedAt) != 180*time.Second {
			t.Errorf("started %+v, want the nine stages and 180 s", started)
		}
		end := b.ended(started.ID)
		p := end.probe
		for _, s := range p.Stages {
			if s.Status != environment.StageOK || s.Message == "" && s.Name != "engine" && s.Name != "image" && s.Name != "create" && s.Name != "start" {
				t.Errorf("stage %+v, want ok", s)
			}
		}
		if !p.OK || p.State != environment.ProbeDone || p.Code != "" || !strings.Contains(p.Summary, "linux/x64, musl 1.2.4") {
			t.Errorf("got %+v, want ok and the platform named", p)
		}
		if p.Host == nil || p.Host.Name != "0123456789ab" || p.Host.BootID != "box-1" || p.Platform == nil || p.Platform.Libc != "musl" || p.Image == nil || p.Image.ImageID != "sha256:bb" {
			t.Errorf("host %v, platform %v, image %v", p.Host, p.Platform, p.Image)
		}
		if q := p.Qualification; q == nil || !q.Recorded || q.Code != environment.QualRecorded || !strings.Contains(p.Proves, "not") && !strings.Contains(p.Proves, "nothing") {
			t.Errorf("qualification %+v, proves %q", q, p.Proves)
		}
		b.wantRecord(env, p, end.change)
		spec := b.boxes.specs()[0]
		if spec.OwnerKind != environment.OwnerProbe || spec.Pinned != nil || spec.InstanceID != b.node {
			t.Errorf("made with %+v, want a probe's", spec)
		}
		lease, err := b.store.Lease(t.Context(), *p.LeaseID)
		if err != nil || lease.Status != environment.LeaseReleased || lease.OwnerKind != environment.OwnerProbe || lease.RunID != nil || lease.Policy != environment.PolicyEphemeral || lease.ScopeKey != nil {
			t.Errorf("lease %+v, %v", lease, err)
		}
		if b.boxes.held() != 0 || b.health(env.ID) != environment.HealthReady {
			t.Errorf("%d sandboxes are left, health %s", b.boxes.held(), b.health(env.ID))
		}
	})
}

// wantRecord checks what a passed probe records.
func (b *bed) wantRecord(env environment.Environment, p environment.Probe, change environment.QualificationChange) {
	b.t.Helper()
	r := change.Record
	if r == nil || change.Revoke != "" {
		b.t.Fatalf("change %+v, want a record", change)
	}
	if r.EnvironmentID != env.ID || r.CompanyID != *p.CompanyID || r.Status != environment.QualificationValid || r.Fingerprint != string(env.Config) ||
		r.Image.Digest != "sha256:aa" || r.Image.ImageID != "sha256:bb" || r.Platform != *p.Platform || r.ProbeID != p.ID || r.LeaseID != *p.LeaseID ||
		r.ProviderID != p.Host.BootID || r.Provider != "docker" || r.ProviderVersion != "20.10.24" || !strings.Contains(string(r.Receipt), "destroyed") || r.MeasuredAt.IsZero() {
		b.t.Errorf("record %+v", r)
	}
}

// A retained sandbox of an agent is never picked up, whatever the policy.
func TestSandbox_neverReuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 2)
		env, company := b.box(`{"provider":"docker","image":"r.example/app@sha256:aa","reuseLease":true}`), b.acme()
		for range 2 {
			if end := b.ended(b.test(env, company).ID); !end.probe.Qualification.Recorded {
				t.Errorf("got %+v", end.probe.Qualification)
			}
		}
		if made := b.boxes.specs(); len(made) != 2 || b.boxes.held() != 0 {
			t.Errorf("%d made, %d left; want one for each test, and none left", len(made), b.boxes.held())
		}
	})
}

// TestSandbox_failures puts each failure at its stage, and revokes.
func TestSandbox_failures(t *testing.T) {
	fails := func(code string, ok ...string) func(*sandboxDriver) {
		return func(d *sandboxDriver) {
			d.acquire = func(_ context.Context, spec environment.Spec) error {
				for _, name := range ok {
					spec.Tell(environment.Stage{Name: name, Status: environment.StageOK})
				}
				return environment.Unavailable(code, "No: "+code+".")
			}
		}
	}
	says := func(text string) func(*sandboxDriver) {
		return func(d *sandboxDriver) { d.says = text }
	}
	const tools = `{"provider":"docker","requiredTools":["git","make"]}`
	const head = "berth:begin=1\nberth:system=Linux\nberth:machine=x86_64\nberth:getconf=glibc 2.36\n"
	tests := map[string]struct {
		config string
		with   func(*sandboxDriver)
		stage  string
		code   string
		health environment.Health
	}{
		"engine is away":      {docker, fails(environment.CodeEngineUnreachable), "engine", environment.CodeEngineUnreachable, environment.HealthUnreachable},
		"engine refuses":      {docker, fails(environment.CodeEngineDenied), "engine", environment.CodeEngineDenied, environment.HealthUnfit},
		"no such image":       {docker, fails(environment.CodeImageNotFound, "engine"), "image", environment.CodeImageNotFound, environment.HealthUnfit},
		"image is denied":     {docker, fails(environment.CodeImageDenied), "image", environment.CodeImageDenied, environment.HealthUnfit},
		"not made":            {docker, fails(environment.CodeCreateFailed, "engine", "image"), "create", environment.CodeCreateFailed, environment.HealthUnfit},
		"not started":         {docker, fails(environment.CodeStartFailed), "start", environment.CodeStartFailed, environment.HealthUnfit},
		"fails where it was":  {docker, fails("odd_code", "engine", "image", "create"), "start", "odd_code", environment.HealthUnfit},
		"no shell":            {docker, says("OCI runtime exec failed"), "shell", environment.CodeShellUnusable, environment.HealthUnfit},
		"workspace missing":   {docker, says(head + "berth:workspace=missing\n"), "workspace", environment.CodeWorkspaceMissing, environment.HealthUnfit},
		"workspace not ours":  {docker, says(head + "berth:workspace=readonly\n"), "workspace", environment.CodeWorkspaceNotWritable, environment.HealthUnfit},
		"workspace not told":  {docker, says(head), "workspace", environment.CodeTimedOut, environment.HealthUnreachable},
		"tool missing":        {tools, says(head + "berth:workspace=ok\nberth:tool0=ok\nberth:tool1=missing\n"), "tools", environment.CodeToolMissing, environment.HealthUnfit},
		"tool not executable": {tools, says(head + "berth:workspace=ok\nberth:tool0=noexec\nberth:tool1=ok\n"), "tools", environment.CodeToolNotExecutable, environment.HealthUnfit},
		"tools not told":      {tools, says(head + "berth:workspace=ok\nberth:tool0=ok\n"), "tools", environment.CodeTimedOut, environment.HealthUnreachable},
		"sandbox is gone":     {docker, func(d *sandboxDriver) { d.exec = refusing(environment.CodeSandboxGone) }, "shell", environment.CodeSandboxGone, environment.HealthUnfit},
		"exec breaks down": {docker, func(d *sandboxDriver) {
			d.exec = func(context.Context, environment.Exec) (environment.ExecResult, error) { panic("x") }
		}, "shell", environment.CodeShellUnusable, environment.HealthUnfit},
		"secret is disabled":   {docker, fails(environment.CodeSecretDisabled), "engine", environment.CodeSecretDisabled, environment.HealthUnfit},
		"driver's broken word": {docker, func(d *sandboxDriver) { d.acquire = func(context.Context, environment.Spec) error { return errBroken } }, "engine", environment.CodeLeaseAcquireFailed, environment.HealthUnfit},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBed(t, 1)
				b.boxes.set(test.with)
				env := b.box(test.config)
				end := b.ended(b.test(env, b.acme()).ID)
				p := end.probe
				if stage := stageOf(p, test.stage); p.OK || p.Code != test.code || stage.Status != environment.StageFailed || stage.Code != test.code || p.Health() != test.health {
					t.Errorf("got %s %s, health %s, stage %+v; want %s at %s, %s", p.State, p.Code, p.Health(), stage, test.code, test.stage, test.health)
				}
				later := false
				for _, s := range p.Stages {
					if later && s.Name != "cleanup" && (s.Status != environment.StageSkipped || s.Message != "Skipped: "+test.stage+" failed.") || s.Status == environment.StageWaiting || s.Status == environment.StageRunning {
						t.Errorf("stage %s is %s", s.Name, s.Status)
					}
					later = later || s.Name == test.stage
				}
				if end.change.Revoke != environment.RevokedProbe || end.change.Record != nil || p.Qualification == nil || p.Qualification.Code != environment.QualProbeFailed {
					t.Errorf("change %+v, %+v; want a revocation", end.change, p.Qualification)
				}
				time.Sleep(10 * time.Minute)
				if b.boxes.held() != 0 {
					t.Errorf("%d sandboxes are left", b.boxes.held())
				}
			})
		})
	}
}

func refusing(code string) func(context.Context, environment.Exec) (environment.ExecResult, error) {
	return func(context.Context, environment.Exec) (environment.ExecResult, error) {
		return environment.ExecResult{}, environment.NewError(environment.KindNotFound, code, "The sandbox is gone.")
	}
}

// TestSandbox_cutShort ends probes at every stage: the sandbox goes, and what was
// recorded before stays as it is.
func TestSandbox_cutShort(t *testing.T) {
	at := func(stage string) func(*sandboxDriver) {
		return func(d *sandboxDriver) {
			switch stage {
			case "shell":
				d.exec = func(ctx context.Context, _ environment.Exec) (environment.ExecResult, error) {
					<-ctx.Done()
					return environment.ExecResult{}, context.Cause(ctx)
				}
			case "cleanup":
				d.release = func(context.Context, environment.Ref) (environment.Receipt, error) {
					time.Sleep(10 * time.Second)
					return environment.Receipt{}, nil
				}
			default:
				d.acquire = func(ctx context.Context, spec environment.Spec) error {
					spec.Tell(environment.Stage{Name: stage, Status: environment.StageRunning})
					<-ctx.Done()
					return context.Cause(ctx)
				}
			}
		}
	}
	cancel := func(t *testing.T, b *bed, p environment.Probe) {
		if _, err := b.Cancel(t.Context(), operator, p.ID); err != nil {
			t.Fatal(err)
		}
	}
	ways := map[string]struct {
		end   func(*testing.T, *bed, environment.Probe)
		state environment.ProbeState
	}{
		"cancelled": {cancel, environment.ProbeCancelled},
		"stopped":   {func(_ *testing.T, b *bed, _ environment.Probe) { b.stop(); b.serve(1) }, environment.ProbeInterrupted},
		"killed": {func(t *testing.T, b *bed, _ environment.Probe) {
			if err := b.store.RetireServer(t.Context(), b.owner); err != nil {
				t.Fatal(err)
			}
			dead := b.stop
			b.serve(1)
			t.Cleanup(dead)
		}, environment.ProbeInterrupted},
	}
	for way, w := range ways {
		for _, stage := range []string{"engine", "image", "create", "start", "shell", "cleanup"} {
			t.Run(way+" at "+stage, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBed(t, 1)
					b.boxes.set(at(stage))
					p := b.test(b.box(docker), b.acme())
					time.Sleep(time.Second)
					if s := stageOf(b.get(p.ID), stage); s.Status != environment.StageRunning {
						t.Fatalf("stage %+v, want it to run", s)
					}
					w.end(t, b, p)
					end := b.ended(p.ID)
					if got := b.get(p.ID); got.State != w.state || got.OK {
						t.Errorf("got %s, ok %v; want %s", got.State, got.OK, w.state)
					}
					if end.change != (environment.QualificationChange{}) || end.probe.Qualification != nil && end.probe.Qualification.Code != environment.QualCancelled {
						t.Errorf("change %+v, %+v; want none", end.change, end.probe.Qualification)
					}
					time.Sleep(10 * time.Minute)
					b.wantNothingHeld()
				})
			})
		}
	}
}

// wantNothingHeld checks rows and sandboxes.
func (b *bed) wantNothingHeld() {
	b.t.Helper()
	page, err := b.store.Leases(b.t.Context(), leasing.Filter{})
	if err != nil || b.boxes.held() != 0 {
		b.t.Errorf("%d sandboxes are left, %v", b.boxes.held(), err)
	}
	for _, l := range page.Items {
		if !l.Status.Ended() {
			b.t.Errorf("lease %+v is left", l)
		}
	}
}

// TestSandbox_timeIsOver leaves the clean-up its own time.
func TestSandbox_timeIsOver(t *testing.T) {
	for name, budget := range map[string]time.Duration{"the usual": environment.DefaultStartupBudget, "a longer budget": environment.MaxStartupBudget} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBed(t, 1)
				b.specs.set(func(s *fakeSpecs) { s.pause = 26 * time.Second }) // so that it is over during the look within
				b.boxes.set(func(d *sandboxDriver) {
					d.budget = budget
					d.exec = func(ctx context.Context, _ environment.Exec) (environment.ExecResult, error) {
						<-ctx.Done()
						return environment.ExecResult{}, context.Cause(ctx)
					}
					d.acquire = func(ctx context.Context, _ environment.Spec) error {
						select {
						case <-time.After(budget - time.Second):
							return nil
						case <-ctx.Done():
							return context.Cause(ctx)
						}
					}
					d.release = func(context.Context, environment.Ref) (environment.Receipt, error) {
						time.Sleep(10 * time.Second)
						return environment.Receipt{}, nil
					}
				})
				began := time.Now()
				p := b.test(b.box(docker), b.acme())
				limit := p.Deadline.Sub(p.CreatedAt)
				if want := max(180*time.Second, budget+60*time.Second); limit != want {
					t.Errorf("limit %s, want %s", limit, want)
				}
				ctx, stop := context.WithTimeout(t.Context(), time.Hour)
				defer stop()
				got, err := b.Wait(ctx, operator, p.ID)
				if took := time.Since(began); err != nil || got.OK || got.State != environment.ProbeDone || got.Code != environment.CodeTimedOut || took != limit-20*time.Second || !strings.Contains(got.Summary, (limit-30*time.Second).String()) {
					t.Errorf("got %s %s after %s, %v", got.State, got.Code, took, err)
				}
				end := b.ended(p.ID)
				if s := stageOf(end.probe, "cleanup"); s.Status != environment.StageOK || s.DurationMs != 10_000 {
					t.Errorf("cleanup %+v, want ok after its 10 s", s)
				}
				if end.change != (environment.QualificationChange{Revoke: environment.RevokedProbe}) || end.probe.Qualification.Code != environment.QualProbeFailed {
					t.Errorf("change %+v, %+v; want a revocation: nobody cut the test short", end.change, end.probe.Qualification)
				}
				b.wantNothingHeld()
			})
		})
	}
}

func TestSandbox_needsACompany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 1)
		env := b.box(docker)
		_, err := b.Start(t.Context(), operator, env.ID, nil)
		e := environment.AsError(err)
		if e.Kind != environment.KindInvalid || e.Code != environment.CodeCompanyRequired || len(e.Fields) != 1 || e.Fields[0].Field != "companyId" {
			t.Errorf("got %+v", e)
		}
		ssh := b.env("ssh", "host", environment.StatusActive)
		started, unnamed, err := b.StartAll(t.Context(), operator, nil)
		if err != nil || len(started) != 1 || *started[0].EnvironmentID != ssh.ID || unnamed != 1 {
			t.Errorf("started %+v, %d left out, %v; want only the host", started, unnamed, err)
		}
		b.wait(started[0].ID)
		if len(b.boxes.specs()) != 0 {
			t.Error("a sandbox was made")
		}
		started, unnamed, err = b.StartAll(t.Context(), operator, b.acme())
		if err != nil || len(started) != 2 || unnamed != 0 {
			t.Errorf("for a company: started %+v, %d left out, %v; want both", started, unnamed, err)
		}
		for _, p := range started {
			b.wait(p.ID)
		}
		b.wantNothingHeld()
	})
}

func TestSandbox_budget(t *testing.T) {
	full := func(b *bed) { b.faulty.mu.Lock(); defer b.faulty.mu.Unlock(); b.faulty.used.ActiveLeases = 1 }
	one := func(e *environment.Environment) { e.Budget = &environment.Budget{MaxLeases: 1} }
	t.Run("is used up before", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBed(t, 1)
			full(b)
			_, err := b.Start(t.Context(), operator, b.box(docker, one).ID, b.acme())
			if e := environment.AsError(err); e.Kind != environment.KindConflict || e.Code != environment.CodeBudgetExhausted || e.Remediation == "" || e.Details["limit"] != "maxLeases" {
				t.Errorf("got %+v", e)
			}
		})
	})
	t.Run("is used up meanwhile", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBed(t, 1)
			b.boxes.set(func(d *sandboxDriver) {
				d.acquire = func(context.Context, environment.Spec) error {
					return environment.Conflict(environment.CodeBudgetExhausted, "No room.")
				}
			})
			end := b.ended(b.test(b.box(docker, one), b.acme()).ID)
			if p := end.probe; p.State != environment.ProbeCancelled || p.Code != environment.CodeBudgetExhausted || end.change != (environment.QualificationChange{}) {
				t.Errorf("got %+v, %+v; want a test that was not done", p, end.change)
			}
		})
	})
}

func TestSandbox_refusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 1)
		b.boxes.set(func(d *sandboxDriver) { d.unusable = "Start Berth with --dev." })
		for config, code := range map[string]string{
			`{"provider":"fake"}`: environment.CodeProviderUnavailable, `{"provider":"none"}`: environment.CodeProviderUnavailable, `{}`: environment.CodeProviderUnavailable,
		} {
			if _, err := b.Start(t.Context(), operator, b.box(config).ID, b.acme()); environment.CodeOf(err) != code {
				t.Errorf("%s: %v, want %s", config, err, code)
			}
		}
		b.boxes.set(func(d *sandboxDriver) {
			d.exec = func(context.Context, environment.Exec) (environment.ExecResult, error) {
				time.Sleep(5 * time.Second)
				return environment.ExecResult{}, errBroken
			}
		})
		env, company := b.box(docker), b.acme()
		p := b.test(env, company)
		if again := b.test(env, company); again.ID != p.ID {
			t.Errorf("another test of the same is %s, want the one under way", again.ID)
		}
		if _, err := b.Start(t.Context(), operator, env.ID, b.acme()); environment.CodeOf(err) != "probe_under_way" {
			t.Errorf("a test for another company: %v", err)
		}
		b.wait(p.ID)
	})
}

func TestSandbox_draftMakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 1)
		p, err := b.StartDraft(t.Context(), operator, b.acme(), nil, environment.Draft{Driver: environment.DriverSandbox})
		if err != nil {
			t.Fatal(err)
		}
		end := b.ended(p.ID)
		for i, s := range end.probe.Stages {
			want := environment.StageSkipped
			if i < 2 {
				want = environment.StageOK
			}
			if s.Status != want {
				t.Errorf("stage %s is %s, want %s", s.Name, s.Status, want)
			}
		}
		if q := end.probe.Qualification; !end.probe.OK || len(end.probe.Stages) != 9 || q == nil || q.Recorded || q.Code != environment.QualDraft || end.change != (environment.QualificationChange{}) || end.probe.Image == nil {
			t.Errorf("got %+v, %+v", end.probe, q)
		}
		if len(b.boxes.specs()) != 0 || end.probe.LeaseID != nil {
			t.Error("a draft made a sandbox")
		}
	})
}

// TestC33_OnlyReadyIsReady goes through the words of a sandbox that takes its time.
func TestC33_OnlyReadyIsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 1)
		b.boxes.set(func(d *sandboxDriver) {
			d.acquire = func(_ context.Context, spec environment.Spec) error {
				for _, word := range []environment.Stage{
					{Name: "start", Status: environment.StageRunning, Measured: map[string]any{"status": "starting"}}, {Name: "start"},
					{Name: "start", Status: "warming"}, {Name: "start", Status: environment.StageOK, Measured: map[string]any{"status": "ready"}},
				} {
					spec.Tell(word)
					time.Sleep(10 * time.Second)
				}
				return nil
			}
		})
		env := b.box(docker)
		p := b.test(env, b.acme())
		time.Sleep(time.Second)
		for _, word := range []any{"starting", "", "warming"} {
			got := b.get(p.ID)
			if s := stageOf(got, "start"); s.Status != environment.StageRunning || s.Severity != "info" || s.Code != "" || s.Measured["status"] != word || b.health(env.ID) != environment.HealthTesting {
				t.Errorf("at %q: stage %+v, health %s; want it not ready yet", word, s, b.health(env.ID))
			}
			time.Sleep(10 * time.Second)
		}
		if got := b.wait(p.ID); !got.OK || b.health(env.ID) != environment.HealthReady {
			t.Errorf("got %+v, want ready", got)
		}
	})
}
