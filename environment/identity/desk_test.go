package identity_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/environmenttest"
	"berth/environment/identity"

	"github.com/google/uuid"
)

// desk is identity on the twin of the database, with a clock that only the test
// moves, two companies and a first admin.
type desk struct {
	*identity.Service
	t      *testing.T
	store  *environmenttest.Store
	hasher *quickHasher
	clock  *clock
	log    *bytes.Buffer
	home   uuid.UUID // a company
	abroad uuid.UUID // another
	admin  environment.Actor
}

const (
	adminEmail    = "ada@example.com"
	adminPassword = "a long enough secret"
)

var here = identity.Client{Address: "192.0.2.7", UserAgent: "test"}

// newDesk returns a desk without anybody; newDeskWithAdmin has the first admin.
func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, hasher: &quickHasher{}, clock: &clock{at: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}, log: &bytes.Buffer{}}
	d.store = environmenttest.NewStore(d.clock.now)
	d.Service = d.service(d.store)
	for name, id := range map[string]*uuid.UUID{"Home": &d.home, "Abroad": &d.abroad} {
		*id = environment.NewID()
		d.must(d.store.CreateCompany(t.Context(), environment.Company{ID: *id, Name: name}, environment.Activity{}))
	}
	return d
}

func (d *desk) service(store identity.Store) *identity.Service {
	return identity.New(store, d.hasher, rand.Reader, identity.Options{}, d.clock.now, slog.New(slog.NewTextHandler(d.log, nil)))
}

func newDeskWithAdmin(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t)
	link, err := d.FirstAdminLink(t.Context())
	d.must(err)
	_, d.admin, err = d.Redeem(t.Context(), link.Reveal(), identity.Redemption{Email: adminEmail, Name: "Ada", Password: secret(adminPassword)}, here)
	d.must(err)
	return d
}

// join invites somebody who joins, and returns the actor of the new session.
func (d *desk) join(email string, in identity.Invitation) environment.Actor {
	d.t.Helper()
	in.Email = email
	_, token, err := d.Invite(d.t.Context(), d.admin, in)
	d.must(err)
	name, _, _ := strings.Cut(email, "@")
	_, actor, err := d.Redeem(d.t.Context(), token.Reveal(), identity.Redemption{Name: name, Password: secret("password of " + email)}, here)
	d.must(err)
	return actor
}

// as is the role that join gives in the desk's first company.
func (d *desk) as(role environment.Role) identity.Invitation {
	return identity.Invitation{Roles: map[uuid.UUID]environment.Role{d.home: role}}
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// refused checks the kind and code of an error.
func (d *desk) refused(what string, err error, kind environment.Kind, code string) {
	d.t.Helper()
	_ = d.refusal(what, err, kind, code)
}

// refusal is an error of that kind and code.
func (d *desk) refusal(what string, err error, kind environment.Kind, code string) *environment.Error {
	d.t.Helper()
	e := environment.AsError(err)
	if err == nil || e.Kind != kind || e.Code != code {
		d.t.Fatalf("%s: got %v (%s, %s), want %s, %s", what, err, environment.KindOf(err), environment.CodeOf(err), kind, code)
	}
	return e
}

// at checks that an error is at one field.
func (d *desk) at(what string, err error, field string) {
	d.t.Helper()
	e := environment.AsError(err)
	if err == nil || len(e.Fields) != 1 || e.Fields[0].Field != field {
		d.t.Errorf("%s: got %v, want an error at %s", what, err, field)
	}
}

// done are the entries of the activity log with an action, the newest first.
func (d *desk) done(action string) []environment.Activity {
	d.t.Helper()
	page, err := d.store.Activity(d.t.Context(), environment.ActivityFilter{Limit: 1000})
	d.must(err)
	var found []environment.Activity
	for _, a := range page.Items {
		if a.Action == action {
			found = append(found, a)
		}
	}
	return found
}

// one is the newest entry with an action; there must be n.
func (d *desk) one(action string, n int) environment.Activity {
	d.t.Helper()
	found := d.done(action)
	if len(found) != n {
		d.t.Fatalf("%d entries of %s, want %d", len(found), action, n)
	}
	return found[0]
}

func secret(text string) environment.Secret { return environment.NewSecret(text) }

func pointer[T any](v T) *T { return &v }

// clock is the time of a test.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// quickHasher is a hasher for tests: what it makes is no secret for long. It
// counts its work.
type quickHasher struct {
	hashed, matched atomic.Int64
	weak            atomic.Bool // makes hashes of yesterday's cost
	// began and goOn, unless nil, hold each work until the test lets it go on.
	began, goOn chan struct{}
	broken      atomic.Bool
}

func (h *quickHasher) wait() {
	if h.began != nil {
		h.began <- struct{}{}
		<-h.goOn
	}
}

func (h *quickHasher) Hash(password environment.Secret) (string, error) {
	h.hashed.Add(1)
	h.wait()
	if h.broken.Load() {
		return "", errors.New("no memory")
	}
	version := "2"
	if h.weak.Load() {
		version = "1"
	}
	return version + sum(password), nil
}

func (h *quickHasher) Matches(hash string, password environment.Secret) (ok, stale bool) {
	h.matched.Add(1)
	h.wait()
	return hash != "" && hash[1:] == sum(password), strings.HasPrefix(hash, "1")
}

func sum(password environment.Secret) string {
	s := sha256.Sum256([]byte(password.Reveal()))
	return hex.EncodeToString(s[:])
}

// work is how many hashes were computed, whatever for.
func (h *quickHasher) work() int64 { return h.hashed.Load() + h.matched.Load() }
