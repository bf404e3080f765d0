package identity_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/identity"
	"berth/store/storetest"
)

// TestAnAdminStaysOnPostgreSQL: two admins who demote or disable each other at
// the same moment, on two servers, leave one of them.
func TestAnAdminStaysOnPostgreSQL(t *testing.T) {
	url := storetest.URL(t)
	var servers []*identity.Service
	for range 2 {
		servers = append(servers, identity.New(storetest.Open(t, url), &quickHasher{}, rand.Reader, identity.Options{}, time.Now, slog.New(slog.DiscardHandler)))
	}
	s := servers[0]
	link, err := s.FirstAdminLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, ada, err := s.Redeem(t.Context(), link.Reveal(), identity.Redemption{Email: adminEmail, Name: "Ada", Password: secret(adminPassword)}, here)
	if err != nil {
		t.Fatal(err)
	}
	_, token, err := s.Invite(t.Context(), ada, identity.Invitation{Email: "bob@example.com", InstanceAdmin: true})
	if err != nil {
		t.Fatal(err)
	}
	_, bob, err := s.Redeem(t.Context(), token.Reveal(), identity.Redemption{Name: "Bob", Password: secret(adminPassword)}, here)
	if err != nil {
		t.Fatal(err)
	}
	pair := []environment.Actor{ada, bob}
	for round := range 20 {
		t.Run(fmt.Sprint("round ", round), func(t *testing.T) {
			var group sync.WaitGroup
			errs := make([]error, 2)
			for i := range pair {
				patch := identity.PersonPatch{InstanceAdmin: pointer(false)}
				if (round+i)%2 == 0 {
					patch = identity.PersonPatch{Disabled: pointer(true)}
				}
				group.Go(func() { _, errs[i] = servers[i].UpdatePerson(t.Context(), pair[i], pair[1-i].ID, patch) })
			}
			group.Wait()
			lost := 0
			for _, err := range errs {
				if code := environment.CodeOf(err); code == "last_admin" {
					lost++
				} else if err != nil {
					t.Errorf("got %v, want nothing or last_admin", err)
				}
			}
			if lost != 1 {
				t.Errorf("%d of two were refused, want 1: %v", lost, errs)
			}
			for i := range pair { // as before
				if _, err := s.UpdatePerson(t.Context(), environment.LocalOperator(), pair[i].ID, identity.PersonPatch{Disabled: pointer(false), InstanceAdmin: pointer(true)}); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestSignInOnPostgreSQL: what the twin takes, the database takes too.
func TestSignInOnPostgreSQL(t *testing.T) {
	var log bytes.Buffer
	s := identity.New(storetest.Open(t, storetest.URL(t)), &quickHasher{}, rand.Reader, identity.Options{}, time.Now, slog.New(slog.NewTextHandler(&log, nil)))
	for _, email := range []string{"ada\x00@example.com", "\xff@example.com", "", "nobody@example.com"} {
		_, _, err := s.SignIn(t.Context(), email, secret("\x00\xff"), identity.Client{Address: "not an address\x00", UserAgent: "\xff\x00"})
		if environment.CodeOf(err) != "sign_in_failed" {
			t.Errorf("as %q: got %v, want sign_in_failed", email, err)
		}
	}
	link, err := s.FirstAdminLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	session, actor, err := s.Redeem(t.Context(), link.Reveal(), identity.Redemption{Email: adminEmail, Name: "Ada \u202e", Password: secret(adminPassword)},
		identity.Client{Address: "192.0.2.1", UserAgent: "\xff\x00"})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.BySession(t.Context(), session.ID); err != nil || again.ID != actor.ID || !again.InstanceAdmin {
		t.Errorf("by the session: %+v, %v", again, err)
	}
	s.Refused(t.Context(), actor, "GET\x00", "/x\xff", "forbidden", "\x00")
	if log.Len() > 0 {
		t.Errorf("the server's log: %s", &log)
	}
}
