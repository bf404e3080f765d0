package catalogue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"berth/environment"
	"berth/environment/configschema"

	"github.com/google/uuid"
)

// fingerprintVersion is part of every fingerprint, so that another way of making
// one gives another one.
const fingerprintVersion = 1

// imageKey is the config key of an image's reference.
const imageKey = "image"

// Fingerprints are of a saved row and the versions that its references lead to
// now. No secret is opened for them. Variables are no part of them.
func (s *Service) Fingerprints(ctx context.Context, env environment.Environment) (environment.Fingerprints, error) {
	none := environment.Fingerprints{}
	config, err := s.effective(ctx, env)
	if err != nil {
		return none, fmt.Errorf("fingerprint environment %s: %w", env.ID, err)
	}
	roles := s.roles(env)
	lasting := maps.Clone(config)
	for key := range config {
		if _, isRef := secretField(key); !isRef && roles(key) == configschema.RoleRuntime {
			delete(lasting, key)
		}
	}
	var prints environment.Fingerprints
	for _, p := range []struct {
		to *string
		of map[string]any
	}{{&prints.Qualification, lasting}, {&prints.Reuse, config}} {
		if *p.to, err = digest(env.Key(), p.of); err != nil {
			return none, fmt.Errorf("fingerprint environment %s: %w", env.ID, err)
		}
	}
	return prints, nil
}

// digest is the SHA-256 of what a sandbox is made with, written in one way.
func digest(key environment.DriverKey, config map[string]any) (string, error) {
	raw, err := json.Marshal(map[string]any{ // sorted by key
		"version": fingerprintVersion, "driver": key.Driver, "provider": key.Provider, "config": config,
	})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// effective is a config as it counts: what is unset or the default is left out, the
// image is written in one way, and a reference to a secret is the version that it
// leads to.
func (s *Service) effective(ctx context.Context, env environment.Environment) (map[string]any, error) {
	config := counted(env, s.schemaOrNil(env.Key()))
	refs := map[string]environment.SecretRef{}
	var all []environment.SecretRef
	for key, raw := range config {
		if field, isRef := secretField(key); isRef {
			if ref, ok := parseRef(raw); ok {
				refs[field] = ref
				all = append(all, ref)
			}
		}
	}
	versions := map[environment.SecretRef]uuid.UUID{}
	if len(all) > 0 {
		var err error
		if versions, err = s.store.ReferredVersions(ctx, all...); err != nil {
			return nil, err
		}
	}
	whole := make(map[string]any, len(config))
	for key, raw := range config {
		field, isRef := secretField(key)
		ref, read := refs[field]
		if !isRef || !read {
			whole[key] = json.RawMessage(canonical(raw))
			continue
		}
		version := "missing"
		if id, found := versions[ref]; found {
			version = id.String()
		}
		whole[key] = map[string]string{"path": "config." + field, "secret": ref.SecretID.String(), "version": version}
	}
	return whole, nil
}

// counted is a stored config without what is unset or the schema's default, and
// with the image written in one way, so that two that mean the same are the same.
func counted(env environment.Environment, schema *configschema.Schema) map[string]json.RawMessage {
	config := object(env.Config)
	for key, raw := range config {
		if key == providerKey || isNull(raw) {
			delete(config, key) // the provider is beside the config already
			continue
		}
		if schema != nil {
			if f, known := schema.Field(key); known && len(f.Default) > 0 && canonical(f.Default) == canonical(raw) {
				delete(config, key)
				continue
			}
		}
		if key == imageKey {
			config[key] = sameImage(raw)
		}
	}
	return config
}

// sameImage writes a reference with its registry and what decides the content: the
// digest, else the tag. What is none stays.
func sameImage(raw json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return raw
	}
	image, problem := environment.ParseImage(text)
	if problem != "" {
		return raw
	}
	name := image.Registry + "/" + image.Repository
	switch {
	case image.Pinned():
		name += "@" + image.Digest
	case image.Tag != "":
		name += ":" + image.Tag
	default:
		name += ":latest"
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return raw
	}
	return quoted
}

// secretField is the request name of the secret to which a config key refers.
func secretField(key string) (string, bool) { return strings.CutSuffix(key, refSuffix) }

// roles tells what a change of a config's key means. Where nothing describes the
// config every key is the target.
func (s *Service) roles(env environment.Environment) func(key string) string {
	schema := s.schemaOrNil(env.Key())
	return func(key string) string {
		if schema == nil {
			return configschema.RoleTarget
		}
		return schema.Role(key)
	}
}

// schemaOrNil is the schema of an installed driver; nil for any other.
func (s *Service) schemaOrNil(key environment.DriverKey) *configschema.Schema {
	schema, err := s.Schema(key)
	if err != nil {
		return nil
	}
	return schema
}
