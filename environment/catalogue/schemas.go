package catalogue

import (
	"encoding/json"
	"fmt"
	"sync"

	"berth/environment"
	"berth/environment/configschema"
)

// schemas keeps what was parsed, by the schema's text.
type schemas struct{ parsed sync.Map }

type parsedSchema struct {
	schema *configschema.Schema
	err    error
}

// of is a driver's schema; nil without an error for a driver that has none.
func (s *schemas) of(driver environment.Driver) (*configschema.Schema, error) {
	schemer, ok := driver.(environment.Schemer)
	if !ok {
		return nil, nil
	}
	raw := schemer.Schema()
	if len(raw) == 0 {
		return nil, nil
	}
	if p, known := s.parsed.Load(string(raw)); known {
		return p.(parsedSchema).schema, p.(parsedSchema).err
	}
	schema, err := configschema.Parse(raw)
	s.parsed.Store(string(raw), parsedSchema{schema, err})
	return schema, err
}

// Schema describes the config of an installed driver; nil without an error for one
// that describes none. It is data about code, and no question of access.
// KindUnavailable with code provider_unavailable when the driver is not installed,
// or its schema cannot be used.
func (s *Service) Schema(key environment.DriverKey) (*configschema.Schema, error) {
	driver, installed := s.drivers.Driver(key)
	if !installed {
		return nil, environment.NotInstalled(key)
	}
	schema, err := s.schemas.of(driver)
	if err != nil {
		return nil, environment.Unavailable(environment.CodeProviderUnavailable, "The settings of "+key.String()+" cannot be read: its schema is wrong.").
			Because(fmt.Errorf("schema of %s: %w", key, err))
	}
	return schema, nil
}

// ConfigProblems says what of a stored config the driver that is installed now
// would not take: after a driver went, or its schema changed. Reading an environment
// never fails for it. env is whole, not reduced.
func (s *Service) ConfigProblems(env environment.Environment) []environment.FieldError {
	schema, err := s.Schema(env.Key())
	switch {
	case err != nil && env.Driver == environment.DriverSandbox:
		return []environment.FieldError{{Field: "config.provider", Message: environment.AsError(err).Message}}
	case err != nil:
		return []environment.FieldError{{Field: "driver", Message: environment.AsError(err).Message}}
	case schema == nil:
		return nil
	}
	return schema.Validate(object(env.Config))
}

// bySchema reads secrets out of a config by its schema alone: what Configure does,
// for a driver without one.
func bySchema(schema *configschema.Schema, merged map[string]json.RawMessage) (environment.ConfigOutput, error) {
	raw, err := json.Marshal(merged)
	return withoutSecrets(schema, environment.ConfigOutput{Config: raw}), err
}

// withoutSecrets takes the secrets out of a config that is to be stored, whatever
// the driver made of it.
func withoutSecrets(schema *configschema.Schema, out environment.ConfigOutput) environment.ConfigOutput {
	config := object(out.Config)
	found := false
	for _, f := range schema.Fields {
		raw, held := config[f.Name]
		if !f.Secret || !held {
			continue
		}
		found = true
		delete(config, f.Name)
		var text string
		if json.Unmarshal(raw, &text) != nil || text == "" {
			continue
		}
		if out.Secrets == nil {
			out.Secrets = map[string]environment.Secret{}
		}
		if _, taken := out.Secrets[f.Name]; !taken {
			out.Secrets[f.Name] = environment.NewSecret(text)
		}
	}
	if !found {
		return out
	}
	raw, err := json.Marshal(config)
	if err != nil {
		raw = json.RawMessage("{}") // it was read from JSON: this does not happen, and a secret must not stay
	}
	out.Config = raw
	return out
}
