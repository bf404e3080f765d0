package catalogue

import (
	"context"
	"fmt"
	"time"

	"berth/environment"
	"berth/environment/access"
)

// Settings returns the instance's settings.
func (s *Service) Settings(ctx context.Context, actor environment.Actor) (environment.Settings, error) {
	if err := access.May(actor, access.ReadSettings, access.Instance); err != nil {
		return environment.Settings{}, err
	}
	return s.store.Settings(ctx)
}

// Flags are the settings as pages and other services need them to know what is
// turned on. It is no question of access and so takes no actor: what it returns
// is not for an answer.
func (s *Service) Flags(ctx context.Context) (environment.Settings, error) {
	return s.store.Settings(ctx)
}

// enabled is KindConflict with code environments_disabled while environments are
// turned off. It comes after authority and before any other read.
func (s *Service) enabled(ctx context.Context) error {
	settings, err := s.store.Settings(ctx)
	if err != nil {
		return err
	}
	return settings.Refusal()
}

// UpdateSettings changes what the patch names. The default environment must
// exist (environment_not_found) and be active (environment_inactive), both
// KindInvalid, and not be Local while only managed sandboxes are allowed:
// KindConflict with code managed_sandbox_unavailable, nor of a driver that is not
// installed or can make nothing new: KindInvalid with code provider_unavailable. While environments are off
// another default is KindConflict with code environments_disabled. A patch that
// changes nothing writes nothing.
func (s *Service) UpdateSettings(ctx context.Context, actor environment.Actor, p environment.SettingsPatch) (environment.Settings, error) {
	if err := access.May(actor, access.ManageSettings, access.Instance); err != nil {
		return environment.Settings{}, err
	}
	if err := settingsProblems(p); err != nil {
		return environment.Settings{}, err
	}
	old, err := s.store.Settings(ctx)
	if err != nil {
		return environment.Settings{}, err
	}
	changes := settingsChanges(old, p)
	if len(changes) == 0 {
		return old, nil
	}
	if err := s.canBeDefault(ctx, old, p); err != nil {
		return environment.Settings{}, err
	}
	next, err := s.store.UpdateSettings(ctx, p, s.activity(ctx, actor, "instance.settings.updated", "instance", "instance", changes.Details()))
	if err != nil {
		return environment.Settings{}, environment.AtField(err, "defaultEnvironmentId", environment.CodeEnvironmentNotFound, environment.CodeEnvironmentInactive)
	}
	return next, nil
}

// canBeDefault refuses another default that no run could resolve to.
func (s *Service) canBeDefault(ctx context.Context, old environment.Settings, p environment.SettingsPatch) error {
	if p.DefaultEnvironmentID == nil || environment.IDText(p.DefaultEnvironmentID) == environment.IDText(old.DefaultEnvironmentID) {
		return nil
	}
	if p.EnableEnvironments != nil {
		old.EnableEnvironments = *p.EnableEnvironments
	}
	if err := old.Refusal(); err != nil {
		return err
	}
	if p.EnableManagedSandboxOnly != nil {
		old.EnableManagedSandboxOnly = *p.EnableManagedSandboxOnly
	}
	view, err := s.store.Environment(ctx, *p.DefaultEnvironmentID)
	switch {
	case err != nil && environment.KindOf(err) == environment.KindNotFound:
		return nil // the store says so, at the field
	case err != nil:
		return err
	case old.Hides(view.Driver):
		return environment.ManagedSandboxOnly()
	}
	why := s.unusable(view.Environment)
	if why == "" {
		return nil
	}
	return environment.AtField(environment.Invalid(environment.CodeProviderUnavailable, why).Remedy("Choose another environment."),
		"defaultEnvironmentId", environment.CodeProviderUnavailable)
}

// unusable is why nothing new can be made in an environment; "" when it can.
func (s *Service) unusable(env environment.Environment) string {
	if _, installed := s.drivers.Driver(env.Key()); !installed {
		return environment.NotInstalled(env.Key()).Message
	}
	return s.unsupported(env.Key())
}

func settingsProblems(p environment.SettingsPatch) error {
	var fields []environment.FieldError
	if p.DefaultEnvironmentID != nil && p.ClearDefault {
		fields = append(fields, environment.FieldError{Field: "defaultEnvironmentId", Message: "Choose a default environment or none, not both."})
	}
	longest := int(environment.MaxRunTimeout / time.Second)
	if t := p.MaxRunTimeout; t != nil && (*t < 1 || *t > longest) {
		fields = append(fields, environment.FieldError{Field: "maxRunTimeoutSec",
			Message: fmt.Sprintf("The longest run is between 1 and %d seconds.", longest)})
	}
	return environment.InvalidFields(fields)
}

func settingsChanges(old environment.Settings, p environment.SettingsPatch) environment.Changes {
	c := environment.Changes{}
	if v := p.EnableEnvironments; v != nil {
		c.Add("enableEnvironments", old.EnableEnvironments, *v)
	}
	if v := p.EnableManagedSandboxOnly; v != nil {
		c.Add("enableManagedSandboxOnly", old.EnableManagedSandboxOnly, *v)
	}
	if v := p.MaxRunTimeout; v != nil {
		c.Add("maxRunTimeoutSec", old.MaxRunTimeout, *v)
	}
	if v := p.DefaultEnvironmentID; v != nil || p.ClearDefault {
		c.Add("defaultEnvironmentId", environment.IDText(old.DefaultEnvironmentID), environment.IDText(v))
	}
	return c
}
