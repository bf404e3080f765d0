package probing

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"berth/environment"
	"berth/environment/crew"
	"berth/environment/leasing"

	"github.com/google/uuid"
)

// trial is the probe of a saved sandbox: one is made for it alone, looked at from
// within, and taken down again. What it proves is decided after that.
type trial struct {
	*Service
	job    *job
	env    environment.Environment // as it was when the probe was asked for
	rec    *recorder
	before environment.Fingerprints

	lease environment.Lease
	ref   environment.Ref
	held  bool // the lease is active, so that there is something to take down

	result   environment.ProbeResult
	image    *environment.ImageIdentity // what the provider says that the live sandbox was made from
	imageErr error                      // why it did not
	platform *environment.Platform      // as measured, whole or nil
	receipt  *environment.Receipt       // of the clean-up; nil: not confirmed
}

// try makes a sandbox and looks at it until ctx ends. What it leaves is for
// cleanUp.
func (s *Service) try(ctx context.Context, j *job) outcome {
	t := &trial{Service: s, job: j, env: *j.sandbox, rec: s.record(ctx, j.probe)}
	err := t.prepare(ctx)
	if err == nil {
		err = t.acquire(ctx)
	}
	if err == nil {
		t.identify(ctx)
		t.examine(ctx)
	}
	out := outcome{result: t.result, trial: t, cause: cutShort(ctx)}
	if errors.Is(out.cause, errTimedOut) && t.result.OK {
		out.cause = nil // it was done in the last moment
	}
	if refusedByBudget(err) || err != nil && out.cause == nil && t.result.Code == "" {
		out.err = err
	}
	return out
}

// refusedByBudget reports whether there was no room for one more lease: that says
// nothing of the target.
func refusedByBudget(err error) bool {
	return environment.CodeOf(err) == environment.CodeBudgetExhausted
}

// prepare opens the environment. The fingerprints come first: a secret that is
// turned over in between then makes a difference.
func (t *trial) prepare(ctx context.Context) error {
	return crew.Retry(ctx, crew.Transient, func(ctx context.Context) (err error) {
		if t.before, err = t.specs.Fingerprints(ctx, t.env); err != nil {
			return err
		}
		t.ref.Spec, err = t.job.open(ctx)
		return err
	})
}

// acquire has a fresh sandbox made, whatever the environment's policy.
func (t *trial) acquire(ctx context.Context) error {
	told := &gate{report: t.rec.report}
	spec := t.ref.Spec
	spec.Report = told.pass
	expires := t.job.probe.Deadline.Add(environment.ProbeOverdue)
	lease, ref, err := t.leases.Acquire(ctx, leasing.Request{
		CompanyID: *t.job.probe.CompanyID, EnvironmentID: t.env.ID, EnvironmentName: t.env.Name, OwnerKind: environment.OwnerProbe,
		Spec: spec, Fresh: true, Fingerprint: t.before.Reuse, Expires: &expires,
	})
	told.close()
	if t.lease = lease; lease.ID != uuid.Nil {
		t.job.probe.LeaseID = &lease.ID
	}
	if err != nil {
		if !refusedByBudget(err) && cutShort(ctx) == nil {
			t.fail(t.stageOfFailure(err), err)
		}
		return err
	}
	t.ref, t.held = ref, true
	if ref.Host != (environment.HostFacts{}) {
		t.result.Host = &ref.Host
	}
	for _, name := range made { // a provider need not tell of each
		if t.rec.status(name) == environment.StageWaiting {
			t.rec.report(environment.Stage{Name: name, Status: environment.StageOK, Message: "The provider said no more of it."})
		}
	}
	return nil
}

// made are the stages of which a driver tells while it acquires.
var made = [...]string{"engine", "image", "create", "start"}

// stageOfFailure is the stage that an error of acquiring belongs to.
func (t *trial) stageOfFailure(err error) string {
	for _, name := range made {
		if t.rec.status(name) == environment.StageFailed {
			return name
		}
	}
	switch environment.CodeOf(err) {
	case environment.CodeImageNotFound, environment.CodeImageDenied, environment.CodeImageDigestMismatch, environment.CodeImageDeleted,
		environment.CodeRegistryUnreachable:
		return "image"
	case environment.CodeCreateFailed:
		return "create"
	case environment.CodeStartFailed:
		return "start"
	}
	for _, name := range made {
		if s := t.rec.status(name); s == environment.StageRunning || s == environment.StageWaiting {
			return name
		}
	}
	return "start"
}

// identify asks what the live sandbox was made from. An answer that does not come
// costs the qualification, not the test.
func (t *trial) identify(ctx context.Context) {
	t.result.Image = t.ref.Image
	identifier, err := environment.Ability[environment.Identifier](t.drivers, t.env.Key())
	if err != nil {
		t.imageErr = err
		return
	}
	limited, cancel := context.WithTimeout(ctx, identifyLimit)
	defer cancel()
	image, err := crew.Call(limited, patience, func() (environment.ImageIdentity, error) { return identifier.Identity(limited, t.ref) })
	if err != nil {
		t.log.Warn("ask what a sandbox was made from", "probe", t.job.probe.ID, "provider", t.ref.Provider, "err", err)
		t.imageErr = err
		return
	}
	t.image, t.result.Image = &image, &image
}

const identifyLimit = 10 * time.Second

// fail ends a stage as failed, the later ones but the clean-up as skipped, and is
// the verdict.
func (t *trial) fail(stage string, err error) {
	e := environment.AsError(err)
	told := t.rec.stage(stage)
	if told.Status != environment.StageFailed {
		told.Status, told.Severity, told.Code, told.Message = environment.StageFailed, "error", e.Code, e.Message
		told.Remediation = cmp.Or(e.Remediation, environment.Remedy(e.Code))
		t.end(told)
	}
	later := false
	for _, name := range environment.DockerStages() {
		if later && name != "cleanup" {
			t.rec.report(environment.Stage{Name: name, Status: environment.StageSkipped, Message: "Skipped: " + stage + " failed."})
		}
		later = later || name == stage
	}
	t.result.OK, t.result.Code = false, cmp.Or(told.Code, e.Code)
	t.result.Summary = t.job.probe.Target + ": " + cmp.Or(told.Message, e.Message)
}

// begin reports that a stage runs.
func (t *trial) begin(name string) {
	now := t.now()
	t.rec.report(environment.Stage{Name: name, Status: environment.StageRunning, StartedAt: &now})
}

// end reports a stage that has ended, with its time.
func (t *trial) end(stage environment.Stage) {
	now := t.now()
	if stage.StartedAt == nil {
		if stage.StartedAt = t.rec.stage(stage.Name).StartedAt; stage.StartedAt == nil {
			stage.StartedAt = &now
		}
	}
	stage.DurationMs = max(0, now.Sub(*stage.StartedAt).Milliseconds())
	t.rec.report(stage)
}

// gate passes on what a driver tells while it acquires, and nothing after that.
type gate struct {
	mu     sync.Mutex
	closed bool
	report func(environment.Stage)
}

// pass takes only stages that are the driver's. A word that is no status of a
// stage says that it is not ready: it is shown as such.
func (g *gate) pass(stage environment.Stage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	ours := false
	for _, name := range made {
		ours = ours || stage.Name == name
	}
	if g.closed || !ours {
		return
	}
	switch stage.Status {
	case environment.StageWaiting, environment.StageRunning, environment.StageOK, environment.StageWarning, environment.StageFailed, environment.StageSkipped:
	default:
		measured := map[string]any{"status": string(stage.Status)}
		for key, value := range stage.Measured {
			measured[key] = value
		}
		stage.Status, stage.Severity, stage.Code, stage.Measured = environment.StageRunning, "info", "", measured
		stage.Message = cmp.Or(stage.Message, "Not ready yet.")
	}
	g.report(stage)
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// cleanUp takes the sandbox down in its own time, whatever cut the probe short,
// and returns the outcome with its last stage.
func (t *trial) cleanUp(ctx, work context.Context, out outcome) outcome {
	t.takeDown(ctx, out)
	out.stages, out.result = t.rec.close(), t.result
	switch {
	case ctx.Err() != nil:
		out.cause = errStopping // what was found may not be decided upon any more
	case errors.Is(cutShort(work), errCancelled):
		out.cause = errCancelled
	}
	return out
}
