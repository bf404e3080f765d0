package catalogue

import (
	"context"
	"fmt"
	"time"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// Settings returns the instance's settings.
func (s *Service) Settings(ctx context.Context, actor environment.Actor) (environment.Settings, error) {
	if err := access.May(actor, access.ReadSettings, access.Instance); err != nil {
		return environment.Settings{}, err
	}
	return s.store.Settings(ctx)
}

// UpdateSettings changes what the patch names. The default environment must
// exist (environment_not_found) and be active (environment_inactive), both
// KindInvalid. A patch that changes nothing writes nothing.
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
	next, err := s.store.UpdateSettings(ctx, p, s.activity(ctx, actor, "instance.settings.updated", "instance", "instance", changes.details()))
	if err != nil {
		return environment.Settings{}, atField(err, "defaultEnvironmentId", environment.CodeEnvironmentNotFound, environment.CodeEnvironmentInactive)
	}
	return next, nil
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

func settingsChanges(old environment.Settings, p environment.SettingsPatch) changes {
	c := changes{}
	if v := p.EnableEnvironments; v != nil {
		c.add("enableEnvironments", old.EnableEnvironments, *v)
	}
	if v := p.EnableManagedSandboxOnly; v != nil {
		c.add("enableManagedSandboxOnly", old.EnableManagedSandboxOnly, *v)
	}
	if v := p.MaxRunTimeout; v != nil {
		c.add("maxRunTimeoutSec", old.MaxRunTimeout, *v)
	}
	if v := p.DefaultEnvironmentID; v != nil || p.ClearDefault {
		c.add("defaultEnvironmentId", idText(old.DefaultEnvironmentID), idText(v))
	}
	return c
}

func idText(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return id.String()
}
