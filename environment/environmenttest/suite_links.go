package environmenttest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

func testLinks(t *testing.T, s suite) {
	ctx := t.Context()
	c := s.company("Acme")
	roles := map[uuid.UUID]environment.Role{c.ID: environment.RoleMember}
	first := s.link(environment.Link{Kind: environment.LinkInvitation, Email: "ada@example.com", Roles: roles, CreatedAt: moment(1)})
	second := s.link(environment.Link{Kind: environment.LinkInvitation, Email: "ADA@example.com", Roles: roles, CreatedAt: moment(2)})
	other := s.link(environment.Link{Kind: environment.LinkInvitation, Email: "bob@example.com", CreatedAt: moment(3)})
	expired := s.link(environment.Link{Kind: environment.LinkInvitation, Email: "late@example.com", ExpiresAt: time.Now().Add(-time.Second)})
	open, err := s.Links(ctx)
	s.must(err)
	if len(open) != 2 || open[0].Email != "bob@example.com" || open[1].Email != "ADA@example.com" {
		t.Fatalf("open links, newest first: got %+v", open)
	}
	same(t, "roles of a link", open[1].Roles, roles)
	l, err := s.Link(ctx, first)
	s.must(err)
	if l.RevokedAt == nil || l.Email != "ada@example.com" {
		t.Errorf("a link that another took the place of: got %+v", l)
	}
	_, err = s.Link(ctx, []byte("no such hash"))
	s.code("an unknown link", err, environment.KindNotFound, "link_not_found")
	s.code("revoke an unknown link", s.RevokeLink(ctx, environment.NewID(), environment.Activity{}), environment.KindNotFound, "link_not_found")
	s.must(s.RevokeLink(ctx, open[0].ID, by("invitation.revoked", "invitation", open[0].ID)))
	s.must(s.RevokeLink(ctx, open[0].ID, by("invitation.revoked", "invitation", open[0].ID)))
	redeem := func(hash []byte) error {
		_, err := s.Redeem(ctx, hash, environment.Person{ID: environment.NewID(), Name: "Ada"}, "hash", by("person.created", "person", uuid.Nil))
		return err
	}
	s.must(redeem(second))
	for why, hash := range map[string][]byte{"revoked": other, "expired": expired, "used": second} {
		err := redeem(hash)
		s.code("a link that is "+why, err, environment.KindConflict, "link_used")
		same(t, "why", environment.AsError(err).Details["why"], any(why))
	}
	s.code("an unknown link", redeem([]byte("no such hash")), environment.KindNotFound, "link_not_found")
	again := s.link(environment.Link{Kind: environment.LinkInvitation, Email: "aDa@example.com"})
	s.code("an address that is here", redeem(again), environment.KindConflict, "email_taken")
	if l, err := s.Link(ctx, again); err != nil || l.UsedAt != nil {
		t.Errorf("a link whose use was refused: got %+v, %v, want it open", l, err)
	}
}

// testLinkOnce holds that many who use one link at once make one person.
func testLinkOnce(t *testing.T, s suite) {
	hash := s.link(environment.Link{Kind: environment.LinkInvitation, Email: "ada@example.com"})
	made := s.race(10, func(i int) error {
		_, err := s.Redeem(t.Context(), hash, environment.Person{ID: environment.NewID(), Name: fmt.Sprint(i)}, "hash", environment.Activity{})
		return err
	}, "link_used")
	same(t, "people that one link made", made, 1)
	page, err := s.People(t.Context(), "", 0, "")
	s.must(err)
	same(t, "people", len(page.Items), 1)
}

// race does something n times at once, and returns how often it went through; else
// it must be a conflict with code.
func (s suite) race(n int, act func(int) error, code string) int {
	s.t.Helper()
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = act(i) })
	}
	all.Wait()
	through := 0
	for _, err := range errs {
		if err == nil {
			through++
			continue
		}
		s.code("one of many at once", err, environment.KindConflict, code)
	}
	return through
}

func testFirstAdmin(t *testing.T, s suite) {
	ctx := t.Context()
	link := func() []byte {
		l := environment.Link{ID: environment.NewID(), Kind: environment.LinkFirstAdmin, CreatedBy: "berth", ExpiresAt: time.Now().Add(time.Hour)}
		hash := []byte(l.ID.String())
		s.must(s.CreateLink(ctx, l, hash, environment.Activity{}))
		return hash
	}
	stale := link()
	open := link()
	redeem := func(hash []byte, email string) (environment.Person, error) {
		return s.Redeem(ctx, hash, environment.Person{ID: environment.NewID(), Name: "Root", Email: email}, "hash", by("person.created", "person", uuid.Nil))
	}
	_, err := redeem(stale, "root@example.com")
	s.code("the link of an earlier start", err, environment.KindConflict, "link_used")
	p, err := redeem(open, "root@example.com")
	s.must(err)
	if !p.InstanceAdmin || p.Email != "root@example.com" || p.Name != "Root" || len(p.Roles) != 0 {
		t.Errorf("the first admin: got %+v", p)
	}
	late := link()
	_, err = redeem(late, "other@example.com")
	s.code("a first admin when there is one", err, environment.KindConflict, "admin_exists")
}

func testPasswordLink(t *testing.T, s suite) {
	ctx := t.Context()
	p := s.invited("ada@example.com", false, nil)
	session := s.session(p.ID, time.Now().Add(time.Hour))
	hash := s.link(environment.Link{Kind: environment.LinkPassword, Email: p.Email, PersonID: &p.ID})
	s.wakes("set a new password", session.ID, func() {
		got, err := s.Redeem(ctx, hash, environment.Person{ID: environment.NewID(), Name: "Somebody else", Email: "else@example.com"}, "new hash",
			by("person.password_changed", "person", p.ID))
		s.must(err)
		same(t, "whose password it is", []any{got.ID, got.Name, got.Email}, []any{p.ID, p.Name, p.Email})
	})
	s.counts("a session of before", ofSession(session.ID), false)
	now, err := s.PasswordHash(ctx, p.ID)
	s.must(err)
	same(t, "hash", now, "new hash")
	open := func(email string) []byte {
		return s.link(environment.Link{Kind: environment.LinkPassword, Email: email, PersonID: &p.ID})
	}
	for why, close := range map[string]func(){
		"another, sent to a new address": func() { open("lovelace@example.com") },
		"a password that was changed":    func() { s.must(s.SetPassword(ctx, p.ID, "changed", nil, environment.Activity{})) },
	} {
		old := open(p.Email)
		close()
		_, err := s.Redeem(ctx, old, environment.Person{ID: p.ID}, "guessed", environment.Activity{})
		s.code("a link for a password, after "+why, err, environment.KindConflict, "link_used")
	}
	nobody := environment.NewID()
	err = s.CreateLink(ctx, environment.Link{ID: environment.NewID(), Kind: environment.LinkPassword, PersonID: &nobody,
		ExpiresAt: time.Now().Add(time.Hour)}, []byte("x"), environment.Activity{})
	s.code("a link for nobody", err, environment.KindNotFound, "person_not_found")
}

func testSlowDown(t *testing.T, s suite) {
	ctx := t.Context()
	account, other, both := []string{"account:a"}, []string{"account:c"}, []string{"account:a", "account:c"}
	fail := func(keys []string) time.Duration {
		t.Helper()
		until, err := s.SignInFailed(ctx, keys)
		s.must(err)
		if until.IsZero() {
			return 0
		}
		return time.Until(until).Round(500 * time.Millisecond)
	}
	for n := range 5 {
		if wait := fail(both); wait != 0 {
			t.Errorf("wait after %d failures: got %s, want none", n+1, wait)
		}
	}
	same(t, "wait after the sixth of one", fail(account), time.Second)
	same(t, "wait after the seventh of one, the sixth of the other", fail(both), 2*time.Second)
	until, err := s.SignInWait(ctx, both)
	s.must(err)
	if left := time.Until(until); left <= 0 || left > 2*time.Second {
		t.Errorf("wait that is left: got %s", left)
	}
	until, err = s.SignInWait(ctx, []string{"account:b"})
	s.must(err)
	same(t, "wait of another", until.IsZero(), true)
	s.must(s.SignedIn(ctx, account))
	until, err = s.SignInWait(ctx, account)
	s.must(err)
	same(t, "wait after signing in", until.IsZero(), true)
	same(t, "the next failure is the first", fail(account), 0)
	same(t, "the other key remembers", fail(other), 2*time.Second)
	for range 50 {
		same(t, "wait of an address that many may share", fail([]string{"address:192.0.2.7"}), 0)
	}
	same(t, "wait of an address after 51 failures", fail([]string{"account:d", "address:192.0.2.7"}), time.Second)
}
