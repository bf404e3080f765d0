package secrets

import (
	"context"
	"strings"
	"unicode/utf8"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

const maxDescription = 2000

// Create makes a secret. Wrong fields are KindInvalid; KindConflict with code
// name_taken, or too_many_secrets beyond environment.MaxCompanySecrets.
func (s *Service) Create(ctx context.Context, actor environment.Actor, company uuid.UUID, in New) (environment.StoredSecret, error) {
	none := environment.StoredSecret{}
	if err := access.May(actor, access.ManageSecrets, access.Company(company)); err != nil {
		return none, err
	}
	name, problem := environment.CleanName(in.Name)
	description, wrong := cleanDescription(in.Description)
	if err := wrongFields("name", problem, "description", wrong, "value", environment.SecretProblem(in.Value)); err != nil {
		return none, err
	}
	now := s.now()
	row := environment.StoredSecret{ID: environment.NewID(), CompanyID: &company, Name: name, Description: description,
		LatestVersion: 1, CreatedBy: actor.Name, CreatedAt: now, UpdatedAt: now}
	err := s.sealed(func() error {
		ciphertext, err := s.keyset.Seal(row.ID, in.Value)
		if err != nil {
			return err
		}
		return s.store.CreateSecret(ctx, environment.SealedSecret{StoredSecret: row, Ciphertext: ciphertext},
			s.activity(ctx, actor, row, "secret.created", map[string]any{"name": name}))
	})
	if err != nil {
		return none, err
	}
	return row, nil
}

// Rotate gives a secret a new value: a new version, the latest from now on.
// KindConflict with code secret_changed when somebody else did so meanwhile.
func (s *Service) Rotate(ctx context.Context, actor environment.Actor, id uuid.UUID, value environment.Secret) (environment.StoredSecret, error) {
	row, err := s.find(ctx, actor, id)
	if err != nil {
		return environment.StoredSecret{}, err
	}
	if err := wrongFields("value", environment.SecretProblem(value)); err != nil {
		return environment.StoredSecret{}, err
	}
	version := environment.SecretVersion{ID: environment.NewID(), SecretID: id, Version: row.LatestVersion + 1,
		CreatedAt: s.now(), CreatedBy: actor.Name}
	var next environment.StoredSecret
	err = s.sealed(func() error {
		if version.Ciphertext, err = s.keyset.Seal(version.ID, value); err != nil {
			return err
		}
		next, err = s.store.AddSecretVersion(ctx, version, s.activity(ctx, actor, row, "secret.rotated",
			map[string]any{"name": row.Name, "version": version.Version}))
		return err
	})
	return next, err
}

// sealed does a write of something that was sealed for it; again, with the key of
// then, when the key was turned over meanwhile, as long as that goes on.
func (s *Service) sealed(write func() error) error {
	for attempt := 1; ; attempt++ {
		err := write()
		if attempt == environment.KeyTurns || environment.CodeOf(err) != environment.CodeKeysetChanged {
			return err
		}
		if err := s.keyset.Reload(); err != nil {
			return err
		}
	}
}

// Update renames, describes, disables or enables. A patch that changes nothing
// writes nothing.
func (s *Service) Update(ctx context.Context, actor environment.Actor, id uuid.UUID, p Patch) (environment.StoredSecret, error) {
	row, err := s.find(ctx, actor, id)
	if err != nil {
		return environment.StoredSecret{}, err
	}
	var problem, wrong string
	if p.Name != nil {
		var name string
		name, problem = environment.CleanName(*p.Name)
		p.Name = &name
	}
	if p.SetDescription {
		p.Description, wrong = cleanDescription(p.Description)
	}
	if err := wrongFields("name", problem, "description", wrong); err != nil {
		return environment.StoredSecret{}, err
	}
	next := row
	p.Apply(&next)
	action, changes := difference(row, next)
	if len(changes) == 0 {
		return row, nil
	}
	details := changes.Details()
	details["name"] = next.Name
	return s.store.UpdateSecret(ctx, id, p, s.activity(ctx, actor, row, action, details))
}

// difference says what an update does, for the log.
func difference(old, next environment.StoredSecret) (action string, changes environment.Changes) {
	action, changes = "secret.updated", environment.Changes{}
	changes.Add("name", old.Name, next.Name)
	changes.Add("description", textOf(old.Description), textOf(next.Description))
	changes.Add("disabled", old.Disabled, next.Disabled)
	switch {
	case next.Disabled && !old.Disabled:
		action = "secret.disabled"
	case old.Disabled && !next.Disabled:
		action = "secret.enabled"
	}
	return action, changes
}

// Delete removes a secret that nothing refers to; KindConflict with code
// secret_in_use and detail "uses".
func (s *Service) Delete(ctx context.Context, actor environment.Actor, id uuid.UUID) error {
	row, err := s.find(ctx, actor, id)
	if err != nil {
		return err
	}
	return s.store.DeleteSecret(ctx, id, s.activity(ctx, actor, row, "secret.deleted", map[string]any{"name": row.Name}))
}

// activity is about a secret: names only, never a value.
func (s *Service) activity(ctx context.Context, actor environment.Actor, row environment.StoredSecret, action string, details map[string]any) environment.Activity {
	return environment.Activity{
		ID: environment.NewID(), CompanyID: row.CompanyID, Action: action, EntityType: "secret", EntityID: row.ID.String(),
		Details: details, RequestID: environment.RequestID(ctx), CreatedAt: s.now(),
	}.By(actor)
}

func cleanDescription(text *string) (*string, string) {
	if text == nil {
		return nil, ""
	}
	clean := strings.TrimSpace(*text)
	switch {
	case clean == "":
		return nil, ""
	case !utf8.ValidString(clean) || strings.ContainsRune(clean, 0):
		return nil, "The description holds characters that cannot be shown."
	case utf8.RuneCountInString(clean) > maxDescription:
		return nil, "A description has at most 2000 characters."
	}
	return &clean, ""
}

// wrongFields is KindInvalid with the fields that have a problem; nil for none.
// It takes pairs of a field and its problem.
func wrongFields(pairs ...string) error {
	var fields []environment.FieldError
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			fields = append(fields, environment.FieldError{Field: pairs[i], Message: pairs[i+1]})
		}
	}
	return environment.InvalidFields(fields)
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
