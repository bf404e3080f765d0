package environment_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"berth/environment"

	"github.com/google/uuid"
)

const canary = "canary-7f3a"

// TestSecretCannotPrint tries the ways in which a value gets into text, alone
// and inside what carries it.
func TestSecretCannotPrint(t *testing.T) {
	secret := environment.NewSecret(canary)
	spec := environment.Spec{Driver: "ssh", Secrets: map[string]environment.Secret{"password": secret}}
	draft := environment.Draft{Name: "x", EnvVars: map[string]environment.EnvVarDraft{"A": {Type: "secret", Value: secret}}}
	values := map[string]any{
		"secret": secret, "pointer": &secret, "slice": []environment.Secret{secret}, "map": map[string]environment.Secret{"a": secret},
		"hidden field": struct{ inner environment.Secret }{secret}, "hidden map": struct{ m map[string]environment.Secret }{spec.Secrets}, "spec": spec, "pointer to spec": &spec, "draft": draft,
		"variable": environment.EnvValue{Name: "A", Value: secret}, "ref": environment.Ref{Spec: spec},
		"exec": environment.Exec{Argv: []string{"true"}, Env: []environment.EnvValue{{Name: "A", Value: secret}}},
	}
	for name, v := range values {
		t.Run(name, func(t *testing.T) {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
				noCanary(t, verb, fmt.Sprintf(verb, v))
			}
			if b, err := json.Marshal(v); err == nil {
				noCanary(t, "json", string(b))
			}
			noCanary(t, "error", fmt.Errorf("use %v: %w", v, errors.New("cause")).Error())
			var log bytes.Buffer
			for _, h := range []slog.Handler{
				slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}), slog.NewJSONHandler(&log, nil),
			} {
				slog.New(h).Info("message", "value", v, slog.Group("g", "value", v))
			}
			noCanary(t, "log", log.String())
		})
	}
	if !secret.Equal(environment.NewSecret(canary)) || secret.Equal(environment.Secret{}) {
		t.Error("equal values are not equal")
	}
	if secret.Reveal() != canary || secret.Empty() || !environment.NewSecret("").Empty() {
		t.Error("a secret does not hold its value")
	}
}

func noCanary(t *testing.T, way, text string) {
	t.Helper()
	// %x writes the bytes in hexadecimal.
	if strings.Contains(text, canary) || strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", canary)) {
		t.Errorf("%s shows the secret: %s", way, text)
	}
}

func TestErrorsSayWhatTheyAre(t *testing.T) {
	cause := errors.New("cause")
	refusal := environment.Conflict("name_taken", "This name is taken.").Because(cause).Remedy("Choose another.").With("name", "x")
	wrapped := fmt.Errorf("save: %w", refusal)
	if environment.KindOf(wrapped) != environment.KindConflict || environment.CodeOf(wrapped) != "name_taken" || !errors.Is(wrapped, cause) {
		t.Errorf("kind %s, code %s", environment.KindOf(wrapped), environment.CodeOf(wrapped))
	}
	if e := environment.AsError(cause); e.Kind != environment.KindInternal || strings.Contains(e.Message, "cause") {
		t.Errorf("an unknown error reads %q to people", e.Message)
	}
	if environment.CodeOf(nil) != "" || environment.AsError(nil) != nil || environment.InvalidFields(nil) != nil {
		t.Error("no error has a code")
	}
	more := refusal.With("other", 1)
	if len(refusal.Details) != 1 || len(more.Details) != 2 {
		t.Error("With changes the error that it copies")
	}
	if got := environment.NotFound("environment_lease").Message; got != "There is no such environment lease." {
		t.Errorf("not found reads %q", got)
	}
}

func TestParseID(t *testing.T) {
	id := environment.NewID()
	if id.Version() != 7 {
		t.Errorf("a new id has version %d", id.Version())
	}
	for _, text := range []string{id.String(), strings.ToUpper(id.String()), "6ba7b810-9dad-11d1-80b4-00c04fd430c8", uuid.Nil.String()} {
		if got, err := environment.ParseID("environment", text); err != nil || got.String() != strings.ToLower(text) {
			t.Errorf("ParseID(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "x", "undefined", id.String()[:35], id.String() + "0", "{" + id.String() + "}", "urn:uuid:" + id.String(),
		strings.ReplaceAll(id.String(), "-", ""), " " + id.String(), "../../etc/passwd", "zzzzzzzz-9dad-11d1-80b4-00c04fd430c8",
	} {
		if _, err := environment.ParseID("environment", text); environment.KindOf(orNil(err)) != environment.KindInvalid {
			t.Errorf("ParseID(%q) is taken", text)
		}
	}
}

// orNil stands in for a missing error, which has no kind.
func orNil(err error) error {
	if err == nil {
		return errors.New("no error")
	}
	return err
}
