package catalogue

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"berth/environment"

	"github.com/google/uuid"
)

// config lets the driver check and normalise the merged config. A row whose
// config and driver the patch leaves alone keeps what is stored; another driver or
// provider starts from nothing.
func (c *planned) config(ctx context.Context, p environment.Patch) error {
	if c.old != nil && c.old.Driver == c.next.Driver && p.Config == nil {
		return nil
	}
	key, ok := c.key(p)
	if !ok {
		return nil
	}
	same := c.old != nil && c.old.Key() == key
	base := map[string]json.RawMessage{}
	if same {
		base = object(c.old.Config)
	}
	merged := mergeConfig(base, p.Config)
	driver, installed := c.s.drivers.Driver(key)
	if !installed {
		if same && !unchanged(base, merged) {
			return environment.NotInstalled(key)
		}
		return nil // what is stored stays; or the field driver has its error already
	}
	c.next.Config = json.RawMessage("{}")
	if key.Provider != "" {
		quoted, err := json.Marshal(key.Provider)
		if err != nil {
			return err
		}
		merged[providerKey] = quoted
		c.next.Config = json.RawMessage(`{"provider":` + string(quoted) + `}`)
	}
	if err := c.references(ctx, base, merged); err != nil {
		return err
	}
	output, err := c.configure(ctx, key, driver, merged)
	if err != nil || output == nil {
		return err
	}
	return c.take(ctx, merged, *output)
}

// unchanged reports whether a patch leaves a stored config as it is.
func unchanged(stored, merged map[string]json.RawMessage) bool {
	for key := range keysOf(stored, merged) {
		if canonical(stored[key]) != canonical(merged[key]) {
			return false
		}
	}
	return true
}

// configure checks a config by the driver's schema and by the driver itself, and
// normalises it; nil when something is wrong, which is noted. What is not set stays
// so: that it then means the default is for whoever uses it.
func (c *planned) configure(ctx context.Context, key environment.DriverKey, driver environment.Driver, merged map[string]json.RawMessage) (*environment.ConfigOutput, error) {
	schema, err := c.s.Schema(key)
	if err != nil {
		return nil, err
	}
	wrong := len(c.problems)
	if schema != nil {
		merged = schema.Clean(merged)
		c.problems = append(c.problems, schema.Validate(schema.Defaults(merged))...)
	}
	configurer, ok := driver.(environment.Configurer)
	if !ok && schema == nil {
		for _, key := range slices.Sorted(maps.Keys(merged)) {
			c.problem("config."+key, "The driver "+c.next.Driver+" has no settings.")
		}
		return nil, nil
	}
	var output environment.ConfigOutput
	if ok {
		output, err = configurer.Configure(environment.ConfigInput{
			Config: merged,
			Stored: func(field string) (environment.Secret, bool) { return c.storedValue(ctx, merged, field) },
		})
	} else {
		output, err = bySchema(schema, merged)
	}
	if e, is := errors.AsType[*environment.Error](err); is && len(e.Fields) > 0 {
		c.noteNew(e.Fields)
		return nil, nil
	}
	if schema != nil && len(c.problems) > wrong {
		return nil, nil // it was asked only for what else is wrong
	}
	if err != nil {
		return nil, err
	}
	if schema != nil {
		output = withoutSecrets(schema, output)
	}
	return &output, nil
}

// noteNew notes problems of fields that have none yet.
func (c *planned) noteNew(fields []environment.FieldError) {
	for _, f := range fields {
		if !slices.ContainsFunc(c.problems, func(p environment.FieldError) bool { return p.Field == f.Field }) {
			c.problems = append(c.problems, f)
		}
	}
}

// take puts references of new secrets into the driver's config.
func (c *planned) take(ctx context.Context, merged map[string]json.RawMessage, output environment.ConfigOutput) error {
	config := object(output.Config)
	if provider := environment.ProviderOf(c.next.Config); provider != "" {
		config[providerKey] = merged[providerKey] // whatever the driver made of it
	}
	for _, name := range output.Drop {
		config[refKey(output, name)] = json.RawMessage("null")
	}
	for _, name := range slices.Sorted(maps.Keys(output.Secrets)) {
		value := output.Secrets[name]
		if len(value.Reveal()) > environment.MaxSecret {
			c.problem("config."+name, "A secret has at most 64 KiB.")
			continue
		}
		if stored, ok := c.storedValue(ctx, merged, name); ok && stored.Equal(value) {
			config[refKey(output, name)] = merged[name+refSuffix]
			continue // the same value again is no change
		}
		ref, err := json.Marshal(c.add("config."+name, value))
		if err != nil {
			return err
		}
		config[refKey(output, name)] = ref
	}
	raw, err := json.Marshal(config)
	if err != nil {
		return err
	}
	if holdsNUL(raw) {
		c.problem("config", "A setting cannot hold a NUL character.")
	}
	output.Config = raw
	c.next.Config, c.output = raw, output
	return nil
}

func refKey(output environment.ConfigOutput, name string) string {
	if key := output.SecretFields[name]; key != "" {
		return key
	}
	return name + refSuffix
}

// add plans a new secret and returns its reference.
func (c *planned) add(name string, value environment.Secret) environment.SecretRef {
	id := environment.NewID()
	c.fresh[id] = freshSecret{name: name, value: value}
	return environment.RefTo(id)
}

// references checks and normalises the secret references that were not stored
// before: each must be there, and be shared or this environment's own.
func (c *planned) references(ctx context.Context, base, merged map[string]json.RawMessage) error {
	for _, key := range slices.Sorted(maps.Keys(merged)) {
		if !strings.HasSuffix(key, refSuffix) || canonical(merged[key]) == canonical(base[key]) {
			continue
		}
		ref, ok := parseRef(merged[key])
		if !ok {
			c.problem("config."+key, "A reference to a secret is {type: \"secret_ref\", secretId, version}.")
			delete(merged, key)
			continue
		}
		problem, err := c.refProblem(ctx, ref)
		if err != nil {
			return err
		}
		if problem != "" {
			c.problem("config."+key, problem)
		}
		normal, err := json.Marshal(ref)
		if err != nil {
			return err
		}
		merged[key] = normal
	}
	return nil
}

// refProblem says why a reference cannot be used; "" when it can.
func (c *planned) refProblem(ctx context.Context, ref environment.SecretRef) (string, error) {
	if _, fresh := c.fresh[ref.SecretID]; fresh {
		return "", nil
	}
	row, _, err := c.s.store.Secret(ctx, ref.SecretID, ref.Version)
	if err != nil {
		if environment.KindOf(err) == environment.KindNotFound {
			return "There is no such secret.", nil
		}
		return "", err
	}
	if row.CompanyID == nil && (row.EnvironmentID == nil || *row.EnvironmentID != c.next.ID || row.RetiredAt != nil) {
		return "There is no such secret.", nil // another environment's own; its existence does not show
	}
	return "", nil
}

// parseRef reads a reference; a version may be a number, and is "latest" when
// there is none.
func parseRef(raw json.RawMessage) (environment.SecretRef, bool) {
	var sent struct {
		Type     string          `json:"type"`
		SecretID uuid.UUID       `json:"secretId"`
		Version  json.RawMessage `json:"version"`
	}
	if json.Unmarshal(raw, &sent) != nil || sent.Type != "secret_ref" || sent.SecretID == uuid.Nil {
		return environment.SecretRef{}, false
	}
	version := "latest"
	if !isNull(sent.Version) {
		version = strings.Trim(string(sent.Version), `"`)
	}
	if version == "" {
		version = "latest"
	}
	return environment.SecretRef{Type: sent.Type, SecretID: sent.SecretID, Version: version}, validVersion(version)
}

func validVersion(v string) bool {
	if v == "latest" {
		return true
	}
	return v != "" && len(v) < 10 && v[0] != '0' && strings.Trim(v, "0123456789") == ""
}
