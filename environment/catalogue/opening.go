package catalogue

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"berth/environment"
	"berth/environment/crew"

	"github.com/google/uuid"
)

// opened is the outcome of a secret that was opened; another one is a code.
const opened = "opened"

// opening opens the secrets of one environment for one use, and notes each try.
type opening struct {
	s     *Service
	owner uuid.UUID // whose own secrets may be opened
	use   environment.SecretUse
	// unsaved says that the environment has no row.
	unsaved bool
	// fresh are values that are not stored yet.
	fresh map[uuid.UUID]freshSecret
	notes []environment.SecretAccess
}

// Run lets openings be noted beside the work that they are for, until ctx ends.
// Without it each is noted before its secret is handed out.
func (s *Service) Run(ctx context.Context) error {
	s.notes.Open(ctx)
	defer s.notes.Close()
	<-ctx.Done()
	return nil
}

// finish writes down what was opened, in one statement; nobody waits for it.
func (o *opening) finish(ctx context.Context) {
	if len(o.notes) == 0 {
		return
	}
	write := func(ctx context.Context) error { return o.s.store.RecordAccess(ctx, o.notes...) }
	lost := func(err error) {
		if err != nil {
			o.s.log.Error("note who opened secrets", "purpose", o.use.Purpose, "env", o.owner, "secrets", len(o.notes), "err", err)
		}
	}
	if !o.s.notes.Go(func(ctx context.Context) { lost(crew.Retry(ctx, crew.Transient, write)) }) {
		lost(write(context.WithoutCancel(ctx)))
	}
}

// config opens the secrets that a spec's config refers to and that the spec does
// not hold yet.
func (o *opening) config(ctx context.Context, spec *environment.Spec) error {
	config := object(spec.Config)
	for _, key := range slices.Sorted(maps.Keys(config)) {
		field, isRef := strings.CutSuffix(key, refSuffix)
		if !isRef || isNull(config[key]) {
			continue
		}
		if _, held := spec.Secrets[field]; held {
			continue
		}
		var ref environment.SecretRef
		if err := json.Unmarshal(config[key], &ref); err != nil {
			return fmt.Errorf("read reference %s: %w", key, err)
		}
		value, code, err := o.open(ctx, "config."+field, ref)
		switch {
		case err != nil:
			return fmt.Errorf("open %s: %w", field, err)
		case code != "":
			spec.SecretProblems[field] = code
		default:
			spec.Secrets[field] = value
		}
	}
	return nil
}

// variables opens those of an environment. A secret that cannot be opened is named
// in the spec's SecretProblems as "envVars.NAME".
func (o *opening) variables(ctx context.Context, spec *environment.Spec, of map[string]environment.EnvVar) ([]environment.EnvValue, error) {
	vars := []environment.EnvValue{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		v := of[name]
		if v.Ref == nil {
			vars = append(vars, environment.EnvValue{Name: name, Value: environment.NewSecret(v.Value)})
			continue
		}
		value, code, err := o.open(ctx, "envVars."+name, *v.Ref)
		switch {
		case err != nil:
			return nil, fmt.Errorf("open variable %s: %w", name, err)
		case code != "":
			spec.SecretProblems["envVars."+name] = code
		default:
			vars = append(vars, environment.EnvValue{Name: name, Value: value, Masked: true})
		}
	}
	return vars, nil
}

// open opens one secret for the field that refers to it. A secret that is gone,
// disabled, or not for this use is a code.
func (o *opening) open(ctx context.Context, path string, ref environment.SecretRef) (environment.Secret, string, error) {
	if f, ok := o.fresh[ref.SecretID]; ok {
		return f.value, "", nil
	}
	row, sealed, err := o.s.store.Secret(ctx, ref.SecretID, ref.Version)
	if err != nil && environment.KindOf(err) != environment.KindNotFound {
		return environment.Secret{}, "", err
	}
	if err != nil {
		row.ID = ref.SecretID
		return environment.Secret{}, o.note(path, row, 0, environment.CodeSecretMissing), nil
	}
	if code := o.refusal(row); code != "" {
		return environment.Secret{}, o.note(path, row, 0, code), nil
	}
	value, err := o.s.vault.Open(sealed.ID, sealed.Ciphertext)
	if err != nil {
		o.s.log.Error("open a stored secret", "secret", row.ID, "version", sealed.Version, "err", err)
		return environment.Secret{}, o.note(path, row, 0, environment.CodeOf(err)), nil
	}
	o.note(path, row, sealed.Version, opened)
	return value, "", nil
}

// refusal is the code of a secret that this use may not have; "" when it may.
func (o *opening) refusal(row environment.StoredSecret) string {
	cleaning := o.use.Purpose == environment.ForCleanup
	switch {
	case row.CompanyID == nil && row.EnvironmentID == nil:
		return environment.CodeSecretMissing
	case row.CompanyID != nil:
		if o.use.CompanyID == nil { // an environment is bound to one company at most: its own
			o.use.CompanyID = row.CompanyID
		}
		if *o.use.CompanyID != *row.CompanyID {
			return environment.CodeCompanyMismatch
		}
	case row.RetiredAt != nil && !cleaning:
		return environment.CodeSecretMissing
	case *row.EnvironmentID != o.owner && !(cleaning && o.owner == uuid.Nil && row.RetiredAt != nil):
		return environment.CodeSecretMissing
	}
	if row.Disabled && !cleaning { // what was made with it would else stay for ever
		return environment.CodeSecretDisabled
	}
	return ""
}

// note keeps what became of one try and returns the outcome.
func (o *opening) note(path string, row environment.StoredSecret, version int, outcome string) string {
	a := environment.SecretAccess{
		ID: environment.NewID(), SecretID: row.ID, Version: version, CompanyID: o.use.CompanyID, ConfigPath: path,
		Purpose: o.use.Purpose, RunID: o.use.RunID, ProbeID: o.use.ProbeID, ActorName: o.use.ActorName, Outcome: outcome, At: o.s.now(),
	}
	if owner := o.owner; owner != uuid.Nil && !o.unsaved {
		a.EnvironmentID = &owner
	}
	o.notes = append(o.notes, a)
	return outcome
}
