package catalogue_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/catalogue"
	"berth/environment/environmenttest"
)

// bench is a catalogue on the twin of the store, with fake drivers.
type bench struct {
	*catalogue.Service
	t      *testing.T
	store  *environmenttest.Store
	ssh    *fakeSSH
	log    *strings.Builder
	local  environment.Environment
	actor  environment.Actor
	absent map[string]bool // drivers that are not installed
	// sandboxes are those of the driver sandbox, by provider.
	sandboxes map[string]offered
}

// offered is a driver as a registry has it.
type offered struct {
	environment.Driver
	caps environment.Capabilities
}

func newBench(t *testing.T) *bench {
	t.Helper()
	began, calls := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC), atomic.Int64{}
	now := func() time.Time { return began.Add(time.Duration(calls.Add(1)) * time.Second) }
	b := &bench{t: t, store: environmenttest.NewStore(time.Now), ssh: &fakeSSH{}, log: &strings.Builder{},
		actor: environment.LocalOperator(), absent: map[string]bool{}, sandboxes: map[string]offered{}}
	log := slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	b.Service = catalogue.New(b.store, registry{b}, environmenttest.Vault{}, now, log)
	local, err := b.EnsureLocal(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	b.local = local
	b.store.TurnOn()
	return b
}

func (b *bench) driver(name string) (environment.Driver, bool) {
	switch {
	case b.absent[name]:
		return nil, false
	case name == environment.DriverSSH:
		return b.ssh, true
	case name == environment.DriverLocal:
		return fakeLocal{}, true
	}
	return nil, false
}

func (b *bench) create(d environment.Draft) environment.Environment {
	b.t.Helper()
	env, err := b.Create(b.t.Context(), b.actor, d)
	if err != nil {
		b.t.Fatalf("create %q: %v", d.Name, err)
	}
	return env
}

func (b *bench) update(env environment.Environment, p environment.Patch) environment.Environment {
	b.t.Helper()
	next, err := b.Update(b.t.Context(), b.actor, env.ID, nil, p)
	if err != nil {
		b.t.Fatalf("update %q: %v", env.Name, err)
	}
	return next
}

func (b *bench) get(env environment.Environment) environment.EnvironmentView {
	b.t.Helper()
	v, err := b.Get(b.t.Context(), b.actor, env.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

func (b *bench) spec(env environment.Environment) environment.Spec {
	b.t.Helper()
	spec, _, err := b.Spec(b.t.Context(), env, environment.SecretUse{Purpose: environment.ForRun})
	if err != nil {
		b.t.Fatal(err)
	}
	return spec
}

func (b *bench) entries(env environment.Environment) []environment.Activity {
	b.t.Helper()
	page, err := b.Activity(b.t.Context(), b.actor, environment.ActivityFilter{EntityType: "environment", EntityID: env.ID.String()})
	if err != nil {
		b.t.Fatal(err)
	}
	return page.Items
}

// want checks an error's kind and code.
func want(t *testing.T, err error, kind environment.Kind, code string) {
	t.Helper()
	_ = refusal(t, err, kind, code)
}

// refusal checks an error's kind and code and returns it.
func refusal(t *testing.T, err error, kind environment.Kind, code string) *environment.Error {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s %s", kind, code)
	}
	e := environment.AsError(err)
	if e.Kind != kind || e.Code != code {
		t.Fatalf("%s %s (%v), want %s %s", e.Kind, e.Code, err, kind, code)
	}
	return e
}

// fields are the fields of an error, joined.
func fields(e *environment.Error) string {
	var names []string
	for _, f := range e.Fields {
		names = append(names, f.Field)
	}
	return strings.Join(names, " ")
}

// config makes config keys out of pairs.
func config(pairs ...any) map[string]json.RawMessage {
	c := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		raw, err := json.Marshal(pairs[i+1])
		if err != nil {
			panic(err) // the test's own values
		}
		c[pairs[i].(string)] = raw
	}
	return c
}

// keys reads a stored config.
func keys(t *testing.T, env environment.Environment) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(env.Config, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func sshDraft(name string, more ...any) environment.Draft {
	return environment.Draft{Name: name, Driver: environment.DriverSSH,
		Config: config(append([]any{"host", "build.example", "username", "runner"}, more...)...)}
}

type fakeLocal struct{}

func (fakeLocal) Name() string { return environment.DriverLocal }
func (fakeLocal) Acquire(context.Context, environment.Spec) (environment.Ref, error) {
	return environment.Ref{}, errors.New("not here")
}
func (fakeLocal) Release(context.Context, environment.Ref, environment.Disposition) (environment.Receipt, error) {
	return environment.Receipt{}, errors.New("not here")
}

// fakeSSH has the config rules that the catalogue's own depend on, and presents
// the keys that it is told to.
type fakeSSH struct {
	fakeLocal
	presents []environment.HostKey
	scanned  environment.Spec
	onScan   func()
}

func (d *fakeSSH) Name() string { return environment.DriverSSH }

func (d *fakeSSH) Configure(in environment.ConfigInput) (environment.ConfigOutput, error) {
	c := environment.SSHConfig{Port: 22, StrictHostKeyChecking: true, KeepAliveSec: 15}
	out := environment.ConfigOutput{Secrets: map[string]environment.Secret{}, SecretFields: environment.SSHSecretFields()}
	var wrong []environment.FieldError
	read := func(key string, v any) {
		if raw, ok := in.Config[key]; ok && json.Unmarshal(raw, v) != nil {
			wrong = append(wrong, environment.FieldError{Field: "config." + key, Message: "This cannot be read."})
		}
	}
	read("host", &c.Host)
	read("port", &c.Port)
	read("username", &c.Username)
	read("knownHosts", &c.KnownHosts)
	read("strictHostKeyChecking", &c.StrictHostKeyChecking)
	read("proxyJump", &c.ProxyJump)
	read("privateKeySecretRef", &c.PrivateKeySecretRef)
	read("passphraseSecretRef", &c.PassphraseSecretRef)
	read("passwordSecretRef", &c.PasswordSecretRef)
	for _, field := range []string{"privateKey", "passphrase", "password"} {
		var text string
		if read(field, &text); text != "" {
			out.Secrets[field] = environment.NewSecret(text)
		}
	}
	if key, ok := out.Secrets["privateKey"]; ok && !strings.Contains(key.Reveal(), "encrypted") {
		out.Drop = append(out.Drop, "passphrase") // a passphrase belongs to its key
		c.PassphraseSecretRef = nil
	}
	if pass, ok := out.Secrets["passphrase"]; ok {
		if stored, held := in.Stored("privateKey"); held && !strings.HasSuffix(stored.Reveal(), pass.Reveal()) {
			wrong = append(wrong, environment.FieldError{Field: "config.passphrase", Message: "This does not open the key."})
		}
	}
	if c.Host == "" {
		wrong = append(wrong, environment.FieldError{Field: "config.host", Message: "Enter a host."})
	}
	if c.Port < 1 || c.Port > 65535 {
		wrong = append(wrong, environment.FieldError{Field: "config.port", Message: "A port is between 1 and 65535."})
	}
	if err := environment.InvalidFields(wrong); err != nil {
		return environment.ConfigOutput{}, err
	}
	var err error
	out.Config, err = json.Marshal(c)
	out.Warnings = []environment.FieldError{{Field: "config.port", Message: "port " + strconv.Itoa(c.Port)}}
	return out, err
}

func (d *fakeSSH) ScanHostKeys(_ context.Context, spec environment.Spec) ([]environment.HostKey, error) {
	d.scanned = spec
	if d.onScan != nil {
		d.onScan()
	}
	return d.presents, nil
}

func (d *fakeSSH) GenerateKey(comment string) (environment.Secret, environment.KeyFacts, error) {
	return environment.NewSecret("canary-generated"), environment.KeyFacts{Type: "ssh-ed25519", PublicKey: "ssh-ed25519 AAAA " + comment}, nil
}

func (d *fakeSSH) InspectKey(text, _ environment.Secret) (environment.KeyFacts, error) {
	return environment.KeyFacts{Bits: len(text.Reveal())}, nil
}

func (d *fakeSSH) ReadClientConfig(text string) (map[string]any, []string, error) {
	return map[string]any{"host": text}, []string{"ForwardX11"}, nil
}
