package probing

import (
	"context"
	"time"

	"berth/environment"
	"berth/environment/access"
	"berth/environment/crew"

	"github.com/google/uuid"
)

// job is a probe's row with what is needed to do it.
type job struct {
	probe  environment.Probe
	limit  time.Duration
	prober environment.Prober // nil for a saved sandbox
	// sandbox is a saved one; nil for all else.
	sandbox *environment.Environment
	actor   environment.Actor
	// request is the id of the request that asked for it.
	request string
	// configKeys is how many settings a draft named.
	configKeys int
	// open gives the spec; a draft's was opened when its values were checked.
	open func(context.Context) (environment.Spec, error)
}

// Start begins a probe of a saved environment; the one under way when there is
// one. It returns at once; the probe does not end with ctx. KindConflict with
// code environment_inactive when it is archived, or environments_disabled; KindUnavailable with code
// provider_unavailable when its driver is not installed, or server_stopping.
func (s *Service) Start(ctx context.Context, actor environment.Actor, id uuid.UUID, company *uuid.UUID) (environment.Probe, error) {
	if err := access.May(actor, access.ManageEnvironment, access.Instance); err != nil {
		return environment.Probe{}, err
	}
	settings, err := s.enabled(ctx)
	if err != nil {
		return environment.Probe{}, err
	}
	view, err := s.store.Environment(ctx, id)
	if err == nil && settings.Hides(view.Driver) {
		err = environment.NotFound("environment")
	}
	if err != nil {
		return environment.Probe{}, err
	}
	return s.startSaved(ctx, actor, view.Environment, company)
}

// enabled returns the settings; KindConflict with code environments_disabled
// while environments are turned off.
func (s *Service) enabled(ctx context.Context) (environment.Settings, error) {
	settings, err := s.store.Settings(ctx)
	if err != nil {
		return settings, err
	}
	return settings, settings.Refusal()
}

func (s *Service) startSaved(ctx context.Context, actor environment.Actor, env environment.Environment, company *uuid.UUID) (environment.Probe, error) {
	if env.Status == environment.StatusArchived {
		return environment.Probe{}, environment.Conflict(environment.CodeEnvironmentInactive, "The environment "+env.Name+" is archived.").
			Remedy(environment.Remedy(environment.CodeEnvironmentInactive))
	}
	key := env.Key()
	prober, err := s.canTest(key)
	if err != nil {
		return environment.Probe{}, err
	}
	if company, err = s.specs.CompanyOf(ctx, env, company); err != nil {
		return environment.Probe{}, err
	}
	j := job{prober: prober, actor: actor, limit: s.limitOf(key, env.Config)}
	if key.Driver == environment.DriverSandbox {
		if company == nil {
			return environment.Probe{}, companyRequired()
		}
		if err := s.roomFor(ctx, env); err != nil {
			return environment.Probe{}, err
		}
		j.sandbox = &env
	}
	p := s.newProbe(actor, key, env.Config, j.limit)
	p.EnvironmentID, p.CompanyID, p.ConfigRevision = &env.ID, company, env.ConfigRevision
	j.probe = p
	j.open = func(ctx context.Context) (environment.Spec, error) {
		spec, _, err := s.specs.Spec(ctx, env, environment.SecretUse{Purpose: environment.ForProbe, CompanyID: company, ProbeID: &p.ID, ActorName: actor.Name})
		spec.CompanyID = company
		return spec, err
	}
	return s.begin(ctx, j)
}

// canTest is the driver's own probe; nil for a sandbox, which is made for a test
// and looked at from within. KindUnavailable or KindUnsupported when neither can
// be.
func (s *Service) canTest(key environment.DriverKey) (environment.Prober, error) {
	if key.Driver != environment.DriverSandbox {
		return environment.Ability[environment.Prober](s.drivers, key)
	}
	if err := environment.Usable(s.drivers, key); err != nil {
		return nil, err
	}
	_, err := environment.Ability[environment.Execer](s.drivers, key)
	return nil, err
}

// companyRequired is the refusal of a sandbox's probe without a company: its
// lease, and what it proves, are one's.
func companyRequired() error {
	e := environment.Invalid(environment.CodeCompanyRequired, "Say for which company the sandbox is tested.")
	e.Fields = []environment.FieldError{{Field: "companyId", Message: e.Message}}
	return e
}

// StartDraft begins a probe of values that are not saved. baseID is the row
// that the form edits; nil for a new one. KindConflict with code
// environments_disabled, or managed_sandbox_unavailable for Local while that is
// hidden.
func (s *Service) StartDraft(ctx context.Context, actor environment.Actor, company, baseID *uuid.UUID, d environment.Draft) (environment.Probe, error) {
	if err := access.May(actor, access.ManageEnvironment, access.Instance); err != nil {
		return environment.Probe{}, err
	}
	settings, err := s.enabled(ctx)
	if err != nil {
		return environment.Probe{}, err
	}
	spec, err := s.specs.DraftSpec(ctx, actor, company, baseID, d)
	if err == nil && settings.Hides(spec.Driver) {
		err = environment.ManagedSandboxOnly()
	}
	if err != nil {
		return environment.Probe{}, err
	}
	company = spec.CompanyID
	prober, err := environment.Ability[environment.Prober](s.drivers, spec.Key())
	if err != nil {
		return environment.Probe{}, err
	}
	limit := s.limitOf(spec.Key(), spec.Config)
	p := s.newProbe(actor, spec.Key(), spec.Config, limit)
	p.EnvironmentID, p.CompanyID, p.Draft, p.ConfigRevision = baseID, company, true, spec.ConfigRevision
	return s.begin(ctx, job{probe: p, limit: limit, prober: prober, actor: actor, configKeys: len(d.Config),
		open: func(context.Context) (environment.Spec, error) { return spec, nil }})
}

// StartAll begins a probe of every active environment whose driver can, but
// Local. A sandbox is really started for it, so one whose company nobody can tell
// or whose budget is used up is left out, and so is what refuses meanwhile because
// it was just archived or deleted. company is whom sandboxes are tested for, nil for
// the only one that there is; unnamed is how many were left out for want of it.
func (s *Service) StartAll(ctx context.Context, actor environment.Actor, company *uuid.UUID) (started []environment.Probe, unnamed int, err error) {
	if err := access.May(actor, access.ManageEnvironment, access.Instance); err != nil {
		return nil, 0, err
	}
	if _, err := s.enabled(ctx); err != nil {
		return nil, 0, err
	}
	started = []environment.Probe{}
	filter := environment.ListFilter{Status: environment.StatusActive, Limit: 1000}
	for {
		page, err := s.store.ListEnvironments(ctx, filter)
		if err != nil {
			return started, unnamed, err
		}
		for _, view := range page.Items {
			if !s.canTestAll(view.Environment) {
				continue
			}
			p, err := s.startSaved(ctx, actor, view.Environment, companyFor(view.Environment, company))
			if err != nil && refused(err) {
				if environment.CodeOf(err) == environment.CodeCompanyRequired {
					unnamed++
				}
				continue
			}
			if err != nil {
				return started, unnamed, err
			}
			started = append(started, p)
		}
		if page.Next == "" {
			return started, unnamed, nil
		}
		filter.Cursor = page.Next
	}
}

// companyFor is company for a sandbox; a probe of anything else is for nobody.
func companyFor(env environment.Environment, company *uuid.UUID) *uuid.UUID {
	if env.Driver != environment.DriverSandbox {
		return nil
	}
	return company
}

// canTestAll leaves out Local, whose probe proves next to nothing, and what no
// driver here can probe.
func (s *Service) canTestAll(env environment.Environment) bool {
	if env.Driver == environment.DriverLocal {
		return false
	}
	_, err := s.canTest(env.Key())
	return err == nil
}

func refused(err error) bool {
	kind := environment.KindOf(err)
	return kind == environment.KindConflict || kind == environment.KindNotFound || environment.CodeOf(err) == environment.CodeCompanyRequired
}

// begin writes the row and starts the work in this process.
func (s *Service) begin(ctx context.Context, j job) (environment.Probe, error) {
	if !s.crew.IsOpen() {
		return environment.Probe{}, stopping()
	}
	p, created, err := s.store.CreateProbe(ctx, j.probe)
	if err == nil && !created && p.ConfigRevision != j.probe.ConfigRevision {
		p, created, err = s.supersede(ctx, j, p)
	}
	if err != nil && crew.Transient(err) {
		s.crew.Go(func(ctx context.Context) { s.disown(ctx, j) })
	}
	if err == nil && !created && j.sandbox != nil && (p.CompanyID == nil || *p.CompanyID != *j.probe.CompanyID) {
		return environment.Probe{}, environment.Conflict("probe_under_way", "A test of it for another company is under way. Try again when it has ended.")
	}
	if err != nil || !created {
		return p, err
	}
	j.probe, j.request = p, environment.RequestID(ctx)
	if !s.crew.Go(func(ctx context.Context) { s.execute(ctx, j) }) {
		// The server began to stop after the row was written: nobody would end it.
		gone, cancel := context.WithCancel(ctx)
		cancel()
		s.finish(gone, j, outcome{cause: errStopping})
		return environment.Probe{}, stopping()
	}
	return p, nil
}

// doubt is how long a write whose answer did not come may take effect yet.
const doubt = 15 * time.Second

// disown ends a probe whose row may be there although its asker was told that it
// could not be written: nobody does it, and it would keep others from beginning.
func (s *Service) disown(ctx context.Context, j job) {
	select {
	case <-time.After(doubt):
	case <-ctx.Done():
	}
	s.finish(ctx, j, outcome{stages: j.probe.Stages, cause: errCancelled})
}

// supersede ends a probe of a config that was edited since, whose verdict would
// say nothing about what is saved now, and writes the row of the new one.
func (s *Service) supersede(ctx context.Context, j job, old environment.Probe) (environment.Probe, bool, error) {
	if err := s.store.AskCancel(ctx, old.ID, j.actor.Name); err != nil {
		return environment.Probe{}, false, err
	}
	patient := supersedeWait
	if j.sandbox != nil {
		patient = cleanupRoom // its sandbox is taken down first
	}
	wait, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	if _, err := s.Wait(wait, j.actor, old.ID); err != nil {
		return environment.Probe{}, false, environment.Conflict("probe_under_way",
			"A test of the earlier settings is still under way. Try again when it has ended.").Because(err)
	}
	return s.store.CreateProbe(ctx, j.probe)
}

// supersedeWait is how long a cancelled probe of a host may take to end.
const supersedeWait = 10 * time.Second

func stopping() error {
	return environment.Unavailable("server_stopping", "This server is starting or stopping. Try again in a moment.")
}

func (s *Service) newProbe(actor environment.Actor, key environment.DriverKey, config []byte, limit time.Duration) environment.Probe {
	now := s.now()
	return environment.Probe{
		ID: environment.NewID(), Driver: key.Driver, Target: s.describe(key, config), State: environment.ProbeQueued,
		Stages: waitingStages(key), ActorName: actor.Name, Owner: s.opts.Owner,
		CreatedAt: now, Deadline: now.Add(limit),
	}
}

// describe says where a config points; the driver's name when it cannot tell.
func (s *Service) describe(key environment.DriverKey, config []byte) string {
	if d, err := environment.Ability[environment.Describer](s.drivers, key); err == nil {
		return d.Describe(config)
	}
	return key.String()
}
