package running

import (
	"context"
	"maps"
	"slices"
	"sync"

	"berth/environment"
	"berth/environment/access"
	"berth/environment/crew"
)

// Start validates, writes the queued run and begins. It returns at once.
//
// KindInvalid with the fields, or with code environment_required or
// environment_not_found; KindConflict with code environment_inactive,
// environment_in_maintenance or managed_sandbox_unavailable; KindUnavailable
// with code provider_unavailable or server_stopping; KindNotFound with code
// company_not_found.
func (s *Service) Start(ctx context.Context, actor environment.Actor, in Input) (environment.Run, error) {
	if err := access.May(actor, access.StartRun, access.Company(in.CompanyID)); err != nil {
		return environment.Run{}, err
	}
	if !s.crew.IsOpen() {
		return environment.Run{}, stopping()
	}
	known, err := s.look(ctx, in)
	if err != nil {
		return environment.Run{}, err
	}
	limit := timeoutLimit(known.settings)
	if err := environment.InvalidFields(in.problems(limit)); err != nil {
		return environment.Run{}, err
	}
	env, err := s.choose(in, known)
	if err != nil {
		return environment.Run{}, err
	}
	run := s.newRun(actor, in, env, limit)
	if run.Input, err = s.seal(run.ID, cargo{Env: in.Env, Stdin: in.Stdin}); err != nil {
		return environment.Run{}, err
	}
	if err := s.store.CreateRun(ctx, run, s.started(ctx, actor, run)); err != nil {
		if crew.Transient(err) {
			s.crew.Go(func(ctx context.Context) { s.disown(ctx, run) })
		}
		return environment.Run{}, err
	}
	// Refused only when the server began to stop meanwhile: the row is safe and
	// the next server begins it.
	s.crew.Go(func(ctx context.Context) { s.work(ctx, run) })
	return run, nil
}

// surroundings are what a start depends on.
type surroundings struct {
	settings environment.Settings
	view     environment.EnvironmentView
	viewErr  error
}

// look reads what a start depends on, all at once: each read is a wait.
func (s *Service) look(ctx context.Context, in Input) (surroundings, error) {
	var known surroundings
	var errCompany, errSettings error
	var reads sync.WaitGroup
	reads.Go(func() { _, errCompany = s.store.Company(ctx, in.CompanyID) })
	reads.Go(func() { known.settings, errSettings = s.store.Settings(ctx) })
	if in.EnvironmentID != nil {
		known.view, known.viewErr = s.store.Environment(ctx, *in.EnvironmentID)
	}
	reads.Wait()
	if errCompany != nil {
		return known, errCompany
	}
	return known, errSettings
}

// choose returns the environment of a run, or why it cannot be used.
func (s *Service) choose(in Input, known surroundings) (environment.Environment, error) {
	switch err := known.viewErr; {
	case in.EnvironmentID == nil:
		return environment.Environment{}, atEnvironment(environment.Invalid(environment.CodeEnvironmentRequired, "Choose an environment."))
	case environment.CodeOf(err) == environment.CodeEnvironmentNotFound:
		return environment.Environment{}, atEnvironment(environment.Invalid(environment.CodeEnvironmentNotFound, "There is no such environment."))
	case err != nil:
		return environment.Environment{}, err
	}
	env := known.view.Environment
	switch {
	case env.Status == environment.StatusArchived:
		return env, environment.Conflict(environment.CodeEnvironmentInactive, "The environment "+env.Name+" is archived.").
			Remedy(environment.Remedy(environment.CodeEnvironmentInactive))
	case env.Status == environment.StatusMaintenance:
		return env, environment.Conflict(environment.CodeEnvironmentMaintenance, "The environment "+env.Name+" is in maintenance.").
			Remedy("Wait until the maintenance is over, or choose another environment.")
	case env.Driver == environment.DriverLocal && known.settings.EnableManagedSandboxOnly:
		return env, environment.Conflict(environment.CodeManagedSandboxOnly, "This instance runs work in its managed sandbox only, and has none.")
	}
	_, err := environment.Ability[environment.Execer](s.drivers, env.Driver)
	return env, err
}

func atEnvironment(e *environment.Error) error {
	c := *e
	c.Fields = []environment.FieldError{{Field: "environmentId", Message: e.Message}}
	return &c
}

func stopping() error {
	return environment.Unavailable("server_stopping", "This server is starting or stopping. Try again in a moment.")
}

func (s *Service) newRun(actor environment.Actor, in Input, env environment.Environment, limit int) environment.Run {
	now := s.now()
	run := environment.Run{
		ID: environment.NewID(), CompanyID: in.CompanyID, EnvironmentID: &env.ID, EnvironmentName: env.Name,
		Driver: env.Driver, Target: s.describe(env), Kind: environment.KindCommand, Command: in.Command,
		EnvNames: slices.Sorted(maps.Keys(in.Env)), TimeoutSec: in.timeout(limit), Status: environment.RunQueued,
		Owner: s.opts.Owner, ActorName: actor.Name, CreatedAt: now,
		Phases: []environment.Phase{{Name: phaseQueued, StartedAt: now}},
	}
	if run.EnvNames == nil {
		run.EnvNames = []string{}
	}
	if in.Title != nil {
		if title, _ := environment.CleanName(*in.Title); title != "" {
			run.Title = &title
		}
	}
	if in.Cwd != nil && *in.Cwd != "" {
		run.Cwd = in.Cwd
	}
	return run
}

// describe says where an environment points; its driver when it cannot tell.
func (s *Service) describe(env environment.Environment) string {
	if d, err := environment.Ability[environment.Describer](s.drivers, env.Driver); err == nil {
		return d.Describe(env.Config)
	}
	return env.Driver
}

// started is the activity of a start. The command stays out of it: people put
// secrets there.
func (s *Service) started(ctx context.Context, actor environment.Actor, run environment.Run) environment.Activity {
	return environment.Activity{
		ID: environment.NewID(), CompanyID: &run.CompanyID, ActorKind: actor.Kind, ActorName: actor.Name,
		Action: "run.started", EntityType: "run", EntityID: run.ID.String(), RequestID: environment.RequestID(ctx),
		Details:   map[string]any{"kind": run.Kind, "driver": run.Driver, "environmentId": run.EnvironmentID.String(), "environment": run.EnvironmentName},
		CreatedAt: run.CreatedAt,
	}
}
