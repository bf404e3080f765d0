package secrets_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/environmenttest"
	"berth/environment/secrets"

	"github.com/google/uuid"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bed is the service on the twin with a keyset that can be turned over.
type bed struct {
	*secrets.Service
	t      *testing.T
	store  *environmenttest.Store
	keyset *environmenttest.Keyset
	acme   uuid.UUID
	globex uuid.UUID
}

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{t: t, store: environmenttest.NewStore(time.Now), keyset: environmenttest.OpenKeyset(nil)}
	if err := b.store.BindKeyset(t.Context(), b.keyset.Fingerprint()); err != nil {
		t.Fatal(err)
	}
	b.Service = secrets.NewService(b.store, b.keyset, time.Now, slog.New(slog.DiscardHandler))
	b.acme, b.globex = b.company("Acme"), b.company("Globex")
	return b
}

func (b *bed) company(name string) uuid.UUID {
	b.t.Helper()
	c := environment.Company{ID: environment.NewID(), Name: name}
	if err := b.store.CreateCompany(b.t.Context(), c, environment.Activity{}); err != nil {
		b.t.Fatal(err)
	}
	return c.ID
}

// admin is a person who keeps a company's secrets.
func admin(company uuid.UUID) environment.Actor {
	return environment.Actor{Kind: environment.ActorPerson, ID: environment.NewID(), Name: "Ada", Roles: map[uuid.UUID]environment.Role{company: environment.RoleAdmin}}
}

func (b *bed) create(name, value string) environment.StoredSecret {
	b.t.Helper()
	s, err := b.Create(b.t.Context(), admin(b.acme), b.acme, secrets.New{Name: name, Value: environment.NewSecret(value)})
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// value opens what is stored.
func (b *bed) value(id uuid.UUID, version string) string {
	b.t.Helper()
	_, v, err := b.store.Secret(context.Background(), id, version)
	if err != nil {
		b.t.Fatal(err)
	}
	value, err := b.keyset.Open(v.ID, v.Ciphertext)
	if err != nil {
		b.t.Fatalf("open version %s of %s: %v", version, id, err)
	}
	return value.Reveal()
}

// entries are the log of a secret, oldest first, as "action details".
func (b *bed) entries(entity string) []string {
	b.t.Helper()
	page, err := b.store.Activity(b.t.Context(), environment.ActivityFilter{EntityID: entity})
	if err != nil {
		b.t.Fatal(err)
	}
	var all []string
	for _, a := range page.Items {
		details, err := json.Marshal(a.Details)
		if err != nil {
			b.t.Fatal(err)
		}
		company := ""
		if a.CompanyID != nil && *a.CompanyID == b.acme {
			company = " of acme"
		}
		all = append([]string{a.Action + company + " " + string(details)}, all...)
	}
	return all
}

// want checks an error's kind, code and fields.
func want(t *testing.T, what string, err error, kind environment.Kind, code string, fields ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error, want %s %s", what, kind, code)
		return
	}
	e := environment.AsError(err)
	var names []string
	for _, f := range e.Fields {
		names = append(names, f.Field)
	}
	if e.Kind != kind || e.Code != code || strings.Join(names, " ") != strings.Join(fields, " ") {
		t.Errorf("%s: got %s %s at %v (%v), want %s %s at %v", what, e.Kind, e.Code, names, err, kind, code, fields)
	}
}
