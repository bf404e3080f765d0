package catalogue

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"berth/environment"

	"github.com/google/uuid"
)

// managedSuffix tells the managed sandbox from an environment that has its name.
const managedSuffix = " (managed)"

// ProvisionManaged makes the managed sandbox be what the configuration says; nil
// when there is no configuration: its marker stays, and grants nothing. What is
// wrong with the configuration is KindInvalid, at the fields of an environment, and
// nothing is changed then. It works while environments are turned off.
func (s *Service) ProvisionManaged(ctx context.Context, m *environment.ManagedSandbox) error {
	if m == nil {
		return s.provisions(ctx, "")
	}
	for attempt := 1; ; attempt++ {
		err := s.provision(ctx, *m)
		if err == nil {
			break
		}
		again := environment.CodeOf(err) == environment.CodeKeysetChanged || environment.CodeOf(err) == environment.CodeEnvironmentManaged ||
			environment.CodeOf(err) == environment.CodeNameTaken
		if !again || attempt == environment.KeyTurns { // else another server was faster
			return fmt.Errorf("provision the managed sandbox: %w", err)
		}
	}
	return s.provisions(ctx, strings.TrimSpace(m.Provider))
}

// provisions notes which provider's managed sandbox is provisioned now.
func (s *Service) provisions(ctx context.Context, provider string) error {
	settings, err := s.store.Settings(ctx)
	if err != nil || settings.ManagedProvider == provider {
		return err
	}
	changes := environment.Changes{}
	changes.Add("managedProvider", settings.ManagedProvider, provider)
	return s.store.SetManagedProvider(ctx, provider,
		s.activity(ctx, environment.System(), "instance.managed_sandbox.changed", "instance", "instance", changes.Details()))
}

// provision makes the row, or changes it to what the configuration says.
func (s *Service) provision(ctx context.Context, m environment.ManagedSandbox) error {
	view, err := s.store.ManagedEnvironment(ctx)
	if environment.KindOf(err) == environment.KindNotFound {
		c, err := s.planManaged(ctx, nil, m)
		if err != nil {
			return err
		}
		c.next.Managed = true
		_, err = s.create(ctx, environment.System(), c)
		return err
	}
	if err != nil {
		return err
	}
	_, err = s.rewrite(ctx, view.ID, nil, func(old environment.EnvironmentView) (Write, error) {
		c, err := s.planManaged(ctx, &old.Environment, m)
		if err != nil {
			return Write{}, err
		}
		return s.writeOf(ctx, environment.System(), c)
	})
	return err
}

// planManaged plans the row: all of it but its variables and metadata.
func (s *Service) planManaged(ctx context.Context, old *environment.Environment, m environment.ManagedSandbox) (*planned, error) {
	p, err := managedPatch(old, m)
	if err != nil {
		return nil, err
	}
	self := uuid.Nil
	if old != nil {
		self = old.ID
	}
	other, taken, err := s.named(ctx, m.Name)
	if err != nil {
		return nil, err
	}
	if taken && other.ID != self {
		p.Name = new(strings.TrimSpace(m.Name) + managedSuffix)
	}
	c, err := s.plan(ctx, old, p)
	if err != nil {
		return nil, err
	}
	return c, c.refusal()
}

// managedPatch replaces all that the configuration says. Its secrets are values:
// one that is stored already stays under its reference.
func managedPatch(old *environment.Environment, m environment.ManagedSandbox) (environment.Patch, error) {
	provider := strings.TrimSpace(m.Provider)
	config := map[string]json.RawMessage{}
	for key, raw := range m.Config {
		config[key] = raw
	}
	if raw, sent := config[providerKey]; sent && environment.ProviderOf(json.RawMessage(`{"provider":`+string(raw)+`}`)) != provider {
		return environment.Patch{}, environment.InvalidFields([]environment.FieldError{
			{Field: "config." + providerKey, Message: "The config names another provider than the managed sandbox does. Leave it out there."}})
	}
	quoted, err := json.Marshal(provider)
	if err != nil {
		return environment.Patch{}, err
	}
	config[providerKey] = quoted
	if old != nil && old.Key() == environment.KeyOf(environment.DriverSandbox, provider) {
		for key := range object(old.Config) {
			field, isRef := strings.CutSuffix(key, refSuffix)
			_, said := config[key]
			if _, value := config[field]; !said && !(isRef && value) {
				config[key] = json.RawMessage("null")
			}
		}
	}
	p := environment.Patch{
		Name: &m.Name, Driver: new(environment.DriverSandbox), Status: new(environment.StatusActive), Config: config,
		SetDescription: true, Budget: m.Budget, ClearBudget: m.Budget == nil,
	}
	if text := strings.TrimSpace(m.Description); text != "" {
		p.Description = &text
	}
	return p, nil
}
