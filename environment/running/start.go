package running

import (
	"context"
	"maps"
	"slices"
	"sync"

	"berth/environment"
	"berth/environment/access"
	"berth/environment/crew"

	"github.com/google/uuid"
)

// Start validates, writes the queued run and begins. It returns at once.
//
// Without an environment it is an agent's own default, else the instance's.
//
// KindInvalid with the fields, or with code environment_required or
// environment_not_found; KindConflict with code environments_disabled,
// environment_inactive, environment_in_maintenance, environment_company_mismatch
// or managed_sandbox_unavailable; KindForbidden with code local_admins_only for
// whoever may not run work on the server itself; KindUnavailable with code
// provider_unavailable or server_stopping; KindNotFound with code
// company_not_found.
func (s *Service) Start(ctx context.Context, actor environment.Actor, in Input) (environment.Run, error) {
	if err := access.May(actor, access.StartRun, access.Company(in.CompanyID)); err != nil {
		return environment.Run{}, err
	}
	known, err := s.look(ctx, actor, in)
	if err != nil {
		return environment.Run{}, err
	}
	if err := known.settings.Refusal(); err != nil {
		return environment.Run{}, err
	}
	limit := timeoutLimit(known.settings)
	if err := environment.InvalidFields(in.problems(limit)); err != nil {
		return environment.Run{}, err
	}
	env, err := s.choose(ctx, actor, known)
	if err != nil {
		return environment.Run{}, err
	}
	if err := s.specs.Serves(ctx, env, &in.CompanyID); err != nil {
		return environment.Run{}, err
	}
	if !s.crew.IsOpen() {
		return environment.Run{}, stopping()
	}
	run := s.newRun(actor, in, env, limit)
	carried := cargo{Env: in.Env, Stdin: in.Stdin}
	early := s.anticipate(context.WithoutCancel(ctx), run, func(environment.Run) (cargo, error) { return carried, nil })
	err = s.sealed(run.ID, carried, func(input []byte) error {
		run.Input = input
		return s.store.CreateRun(ctx, run, s.entry(ctx, actor, "run.started", run))
	})
	if err != nil {
		early.dismiss()
		if crew.Transient(err) {
			s.crew.Go(func(ctx context.Context) { s.disown(ctx, run) })
		}
		return environment.Run{}, err
	}
	// Refused only when the server began to stop meanwhile: the row is safe and
	// the next server begins it.
	if !s.crew.Go(func(ctx context.Context) { s.work(ctx, run, early) }) {
		early.dismiss()
	}
	return seen(actor, run), nil
}

// surroundings are what a start depends on.
type surroundings struct {
	settings environment.Settings
	chosen   *uuid.UUID // the environment; nil: none
	view     environment.EnvironmentView
	viewErr  error
}

// look reads what a start depends on, all at once: each read is a wait.
func (s *Service) look(ctx context.Context, actor environment.Actor, in Input) (surroundings, error) {
	known := surroundings{chosen: in.EnvironmentID}
	var errCompany, errSettings error
	var reads sync.WaitGroup
	reads.Go(func() { _, errCompany = s.store.Company(ctx, in.CompanyID) })
	reads.Go(func() { known.settings, errSettings = s.store.Settings(ctx) })
	if known.chosen != nil {
		known.view, known.viewErr = s.store.Environment(ctx, *known.chosen)
	}
	reads.Wait()
	if errCompany != nil {
		return known, errCompany
	}
	if errSettings != nil || known.chosen != nil {
		return known, errSettings
	}
	var err error
	if known.chosen, err = s.otherwise(ctx, actor, known.settings); err == nil && known.chosen != nil {
		known.view, known.viewErr = s.store.Environment(ctx, *known.chosen)
	}
	return known, err
}

// otherwise is where work goes that names no environment; nil for nowhere.
func (s *Service) otherwise(ctx context.Context, actor environment.Actor, settings environment.Settings) (*uuid.UUID, error) {
	if actor.Kind == environment.ActorAgent {
		agent, err := s.store.Agent(ctx, actor.ID)
		if err != nil || agent.DefaultEnvironmentID != nil {
			return agent.DefaultEnvironmentID, err
		}
	}
	return settings.DefaultEnvironmentID, nil
}

// choose returns the environment of a run, or why it cannot be used. What would be
// Local while that is hidden is the managed sandbox; nothing else ever moves.
func (s *Service) choose(ctx context.Context, actor environment.Actor, known surroundings) (environment.Environment, error) {
	switch err := known.viewErr; {
	case known.chosen == nil:
		return environment.Environment{}, atEnvironment(environment.Invalid(environment.CodeEnvironmentRequired, "Choose an environment."))
	case environment.CodeOf(err) == environment.CodeEnvironmentNotFound:
		return environment.Environment{}, atEnvironment(environment.Invalid(environment.CodeEnvironmentNotFound, "There is no such environment."))
	case err != nil:
		return environment.Environment{}, err
	}
	env := known.view.Environment
	if err := atWork(env); err != nil {
		return env, err
	}
	if known.settings.Hides(env.Driver) {
		var err error
		if env, err = s.managed(ctx, known.settings.ManagedProvider); err != nil {
			return env, err
		}
	}
	if key := env.Key(); key.Driver == environment.DriverLocal || key.Provider == environment.ProviderFake {
		if err := mayRunOnLocal(actor); err != nil {
			return env, err
		}
	}
	if err := environment.Usable(s.drivers, env.Key()); err != nil {
		return env, err
	}
	_, err := environment.Ability[environment.Execer](s.drivers, env.Key())
	return env, err
}

// atWork is why an environment takes no work now; nil when it does.
func atWork(env environment.Environment) error {
	switch env.Status {
	case environment.StatusArchived:
		return environment.Conflict(environment.CodeEnvironmentInactive, "The environment "+env.Name+" is archived.").
			Remedy(environment.Remedy(environment.CodeEnvironmentInactive))
	case environment.StatusMaintenance:
		return environment.Conflict(environment.CodeEnvironmentMaintenance, "The environment "+env.Name+" is in maintenance.").
			Remedy("Wait until the maintenance is over, or choose another environment.")
	}
	return nil
}

// managed is the sandbox in which work runs that would else run on Local, while
// the instance provisions it.
func (s *Service) managed(ctx context.Context, provider string) (environment.Environment, error) {
	view, err := s.store.ManagedEnvironment(ctx)
	switch {
	case err != nil && environment.KindOf(err) != environment.KindNotFound:
		return environment.Environment{}, err
	case err != nil, view.Status != environment.StatusActive, !view.Provisioned, view.Key().Provider != provider:
		return environment.Environment{}, environment.ManagedSandboxOnly()
	}
	return view.Environment, nil
}

// mayRunOnLocal refuses work on the server itself, which that of a pretended
// sandbox is too, by whoever is no instance admin, in whatever mode: what runs
// there can read what the server can.
func mayRunOnLocal(actor environment.Actor) error {
	if err := access.May(actor, access.RunOnLocal, access.Instance); err != nil {
		return environment.NewError(environment.KindForbidden, environment.CodeLocalAdminsOnly,
			"Only instance admins run work on the server itself.").Remedy(environment.Remedy(environment.CodeLocalAdminsOnly)).Because(err)
	}
	return nil
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
		Driver: env.Driver, Provider: env.Key().Provider, Target: s.describe(env), Kind: environment.KindCommand, Command: in.Command,
		EnvNames: slices.Sorted(maps.Keys(in.Env)), TimeoutSec: in.timeout(limit), Status: environment.RunQueued, Native: in.Native,
		Owner: s.opts.Owner, ActorName: actor.Name, CreatedAt: now,
		Phases: []environment.Phase{{Name: phaseQueued, StartedAt: now}},
	}
	if actor.Kind == environment.ActorAgent {
		run.AgentID = &actor.ID
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
	if d, err := environment.Ability[environment.Describer](s.drivers, env.Key()); err == nil {
		return d.Describe(env.Config)
	}
	return env.Key().String()
}

// entry is the activity of what was done with a run. The command stays out of it:
// people put secrets there.
func (s *Service) entry(ctx context.Context, actor environment.Actor, action string, run environment.Run) environment.Activity {
	details := map[string]any{"kind": run.Kind, "driver": run.Driver, "environment": run.EnvironmentName}
	if run.EnvironmentID != nil {
		details["environmentId"] = run.EnvironmentID.String()
	}
	return environment.Activity{
		ID: environment.NewID(), CompanyID: &run.CompanyID, Action: action, EntityType: "run", EntityID: run.ID.String(),
		RequestID: environment.RequestID(ctx), Details: details, CreatedAt: s.now(),
	}.By(actor)
}
