package catalogue_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// dockerSchema has a field of every role and sort.
const dockerSchema = `{
  "type": "object", "additionalProperties": false, "required": ["provider", "image"],
  "properties": {
    "provider": {"const": "docker"},
    "image": {"type": "string", "title": "Image", "x-role": "image", "maxLength": 512},
    "platform": {"enum": ["linux/amd64", "linux/arm64"], "x-role": "image"},
    "engine": {"type": "string", "default": ""},
    "network": {"type": "string", "default": "bridge", "pattern": "^[a-z]+$"},
    "env": {"type": "object", "additionalProperties": {"type": "string"}},
    "registryUsername": {"type": "string", "x-role": "account"},
    "registryPassword": {"type": "string", "format": "secret-ref", "x-role": "account"},
    "tlsKey": {"type": "string", "format": "secret-ref"},
    "cpus": {"type": "number", "minimum": 0.1, "maximum": 64, "x-unit": "cores", "x-role": "runtime"},
    "memoryMiB": {"type": "integer", "minimum": 16, "x-unit": "MiB", "x-role": "runtime"},
    "reuseLease": {"type": "boolean", "default": false, "x-role": "runtime"},
    "labels": {"type": "object", "additionalProperties": {"type": "string"}, "x-role": "runtime"}
  }
}`

// plainSandbox is a provider of sandboxes that is described by its schema alone.
type plainSandbox struct {
	fakeLocal
	provider, schema string
}

func (plainSandbox) Name() string              { return environment.DriverSandbox }
func (d plainSandbox) Provider() string        { return d.provider }
func (d plainSandbox) Schema() json.RawMessage { return json.RawMessage(d.schema) }

// fakeDocker checks the image too, and keeps every spec's config as it is.
type fakeDocker struct{ plainSandbox }

func (d fakeDocker) Configure(in environment.ConfigInput) (environment.ConfigOutput, error) {
	out := environment.ConfigOutput{Secrets: map[string]environment.Secret{}}
	kept := map[string]json.RawMessage{}
	for key, raw := range in.Config {
		var text string
		switch {
		case key == "registryPassword" || key == "tlsKey":
			if json.Unmarshal(raw, &text) == nil && text != "" {
				out.Secrets[key] = environment.NewSecret(text)
			}
			continue
		case key == "image" && json.Unmarshal(raw, &text) == nil:
			if _, problem := environment.ParseImage(text); problem != "" {
				return out, environment.InvalidFields([]environment.FieldError{{Field: "config.image", Message: problem}})
			}
		}
		kept[key] = raw
	}
	var err error
	out.Config, err = json.Marshal(kept)
	return out, err
}

// withDocker offers the provider docker, and one that is called plain.
func withDocker(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.offer(fakeDocker{plainSandbox{provider: environment.ProviderDocker, schema: dockerSchema}}, "")
	b.offer(plainSandbox{provider: "plain", schema: `{"type":"object","properties":{
		"region":{"type":"string"},"apiKey":{"type":"string","format":"secret-ref"}}}`}, "")
	return b
}

func (b *bench) offer(d environment.Driver, unsupported string) {
	caps := environment.CapabilitiesOf(d, "Sandbox")
	caps.Unsupported = unsupported
	b.sandboxes[caps.Provider] = offered{d, caps}
}

func dockerDraft(name string, more ...any) environment.Draft {
	return environment.Draft{Name: name, Driver: environment.DriverSandbox,
		Config: config(append([]any{"provider", "docker", "image", "registry.test:5000/team/app:1"}, more...)...)}
}

// qualify stores a valid qualification of what is saved now.
func (b *bench) qualify(env environment.Environment, company uuid.UUID) {
	b.t.Helper()
	view := b.get(env)
	prints, err := b.Fingerprints(b.t.Context(), view.Environment)
	if err != nil {
		b.t.Fatal(err)
	}
	b.probed(view.Environment, company, nil, environment.QualificationChange{Record: &environment.Qualification{
		Provider: environment.ProviderDocker, Fingerprint: prints.Qualification,
		Image:    environment.ImageIdentity{Kind: environment.ImageDigest, Digest: "sha256:" + strings.Repeat("a", 64)},
		Platform: environment.Platform{OS: "linux", Arch: "x64", Libc: "musl"}, ProviderID: "canary-container", MeasuredAt: time.Now(),
	}})
	if state := b.admission(env, company).State; state != environment.QualificationRecorded {
		b.t.Fatalf("after a probe the state is %s", state)
	}
}

// probed stores a probe of a saved row that passed.
func (b *bench) probed(env environment.Environment, company uuid.UUID, image *environment.ImageIdentity, change environment.QualificationChange) {
	b.t.Helper()
	now := time.Now()
	p := environment.Probe{ID: environment.NewID(), EnvironmentID: &env.ID, CompanyID: &company, Driver: env.Driver,
		ConfigRevision: env.ConfigRevision, Deadline: now.Add(time.Minute), CreatedAt: now}
	if _, _, err := b.store.CreateProbe(b.t.Context(), p); err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.store.BeginProbe(b.t.Context(), p.ID); err != nil {
		b.t.Fatal(err)
	}
	p.State, p.OK, p.Image, p.StartedAt, p.FinishedAt = environment.ProbeDone, true, image, &now, &now
	p.Qualification = &environment.QualificationResult{Recorded: change.Record != nil, Code: environment.QualRecorded}
	if _, err := b.store.FinishProbe(b.t.Context(), p, change, environment.Activity{}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) admission(env environment.Environment, company uuid.UUID) environment.Admission {
	b.t.Helper()
	a, err := b.Admission(b.t.Context(), b.get(env).Environment, company)
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}
