package identity_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/environmenttest"
	"berth/environment/identity"
)

func TestSignIn(t *testing.T) {
	d := newDeskWithAdmin(t)
	session, actor, err := d.SignIn(t.Context(), "  ADA@Example.com ", secret(adminPassword), identity.Client{Address: "192.0.2.8", UserAgent: strings.Repeat("ü", 300)})
	d.must(err)
	if actor.ID != d.admin.ID || !actor.InstanceAdmin || actor.Credential != (environment.Credential{Kind: environment.CredentialSession, ID: session.ID}) {
		t.Errorf("signed in as %+v", actor)
	}
	if session.Address != "192.0.2.8" || session.UserAgent != strings.Repeat("ü", 200) || session.PersonID != actor.ID {
		t.Errorf("the session is %+v", session)
	}
	if again, err := d.BySession(t.Context(), session.ID); err != nil || again.ID != actor.ID {
		t.Errorf("by its session: %+v, %v", again, err)
	}
	entry := d.one("person.signed_in", 2)
	if entry.ActorID == nil || *entry.ActorID != actor.ID || entry.EntityID != actor.ID.String() || entry.Details["address"] != "192.0.2.8" {
		t.Errorf("the log says %+v", entry)
	}
}

// TestSessionEndsInTime: 14 days after the sign-in, used or not.
func TestSessionEndsInTime(t *testing.T) {
	d := newDeskWithAdmin(t)
	session, actor, err := d.SignIn(t.Context(), adminEmail, secret(adminPassword), here)
	d.must(err)
	d.clock.pass(14*24*time.Hour - time.Second)
	if _, err := d.BySession(t.Context(), session.ID); err != nil {
		t.Errorf("a second before its end: %v", err)
	}
	d.clock.pass(time.Second)
	_, err = d.BySession(t.Context(), session.ID)
	d.refused("at its end", err, environment.KindUnauthenticated, "session_ended")
	_, err = d.Again(t.Context(), actor)
	d.refused("asked again", err, environment.KindUnauthenticated, "session_ended")
}

// TestFailuresLookTheSame: a wrong password, an address that nobody has, what is
// no address and somebody who is disabled get one answer after the same work.
func TestFailuresLookTheSame(t *testing.T) {
	d := newDeskWithAdmin(t)
	gone := d.join("gone@example.com", identity.Invitation{})
	_, err := d.UpdatePerson(t.Context(), d.admin, gone.ID, identity.PersonPatch{Disabled: pointer(true)})
	d.must(err)
	var first *environment.Error
	failures := 0
	for name, tc := range map[string]struct{ email, password string }{
		"wrong password":             {adminEmail, "wrong password"},
		"no password":                {adminEmail, ""},
		"nobody's address":           {"nobody@example.com", adminPassword},
		"no address":                 {"", adminPassword},
		"not an address":             {"ada", adminPassword},
		"an address with NUL":        {"ada\x00@example.com", adminPassword},
		"not UTF-8":                  {"\xff@example.com", "\xff"},
		"a very long address":        {strings.Repeat("a", 1<<16) + "@example.com", adminPassword},
		"the password as address":    {adminPassword, adminEmail},
		"disabled, right password":   {"gone@example.com", "password of gone@example.com"},
		"disabled, another password": {"gone@example.com", "wrong password"},
	} {
		before := d.hasher.work()
		_, actor, err := d.SignIn(t.Context(), tc.email, secret(tc.password), here)
		e := d.refusal(name, err, environment.KindUnauthenticated, "sign_in_failed")
		if first == nil {
			first = e
		}
		if e.Message != first.Message || e.Remediation != first.Remediation || len(e.Fields) != 0 || len(e.Details) != 0 {
			t.Errorf("%s: the answer is %+v, that of another failure %+v", name, e, first)
		}
		if actor.Kind != environment.ActorNone {
			t.Errorf("%s: gives the actor %+v", name, actor)
		}
		if work := d.hasher.work() - before; work != 1 {
			t.Errorf("%s: %d hashes were computed, want 1", name, work)
		}
		failures++
		entry := d.one("person.sign_in_failed", failures)
		if entry.ActorKind != environment.ActorNone || entry.ActorID != nil || len(entry.Details) != 2 || entry.Details["address"] != here.Address {
			t.Errorf("%s: the log says %+v", name, entry)
		}
		d.clock.pass(2 * time.Hour) // the next failure is the first again
	}
}

// TestLogHoldsNoTypedText: somebody who types the password where the address
// belongs must not find it in the log.
func TestLogHoldsNoTypedText(t *testing.T) {
	d := newDeskWithAdmin(t)
	_, _, err := d.SignIn(t.Context(), "canary-typed-as-address", secret("canary-typed-as-password"), here)
	d.refused("a failure", err, environment.KindUnauthenticated, "sign_in_failed")
	page, err := d.store.Activity(t.Context(), environment.ActivityFilter{Limit: 100})
	d.must(err)
	for _, a := range page.Items {
		for key, value := range a.Details {
			if text, ok := value.(string); ok && strings.Contains(text, "canary") {
				t.Errorf("%s holds %s: %q", a.Action, key, text)
			}
		}
	}
	if strings.Contains(d.log.String(), "canary") {
		t.Errorf("the server's log: %s", d.log)
	}
}

func TestSignInSlowsDown(t *testing.T) {
	d := newDeskWithAdmin(t)
	try := func(password string) error {
		_, _, err := d.SignIn(t.Context(), adminEmail, secret(password), here)
		return err
	}
	for range 6 {
		d.refused("the first six", try("wrong"), environment.KindUnauthenticated, "sign_in_failed")
	}
	before := d.hasher.work()
	e := d.refusal("the seventh", try("wrong"), environment.KindLimited, environment.CodeRateLimited)
	if e.Details["retryAfterSec"] != 1 {
		t.Errorf("it must wait for %v s, want 1", e.Details["retryAfterSec"])
	}
	d.refused("even with the right one", try(adminPassword), environment.KindLimited, environment.CodeRateLimited)
	if d.hasher.work() != before {
		t.Error("a password was hashed while the account must wait")
	}
	_, _, err := d.SignIn(t.Context(), "nobody@example.com", secret("x"), here)
	d.refused("another account from there", err, environment.KindUnauthenticated, "sign_in_failed")
	d.clock.pass(time.Second)
	d.refused("after the wait", try("wrong"), environment.KindUnauthenticated, "sign_in_failed")
	if e := d.refusal("the wait doubles", try("wrong"), environment.KindLimited, environment.CodeRateLimited); e.Details["retryAfterSec"] != 2 {
		t.Errorf("it must wait for %v s, want 2", e.Details["retryAfterSec"])
	}
	d.clock.pass(2 * time.Second)
	d.must(try(adminPassword))
	for range 5 {
		d.refused("the count began anew", try("wrong"), environment.KindUnauthenticated, "sign_in_failed")
	}
	d.must(try(adminPassword))
}

// TestNobodysAccountSlowsDownToo: else the wait would tell which accounts there are.
func TestNobodysAccountSlowsDownToo(t *testing.T) {
	d := newDeskWithAdmin(t)
	for range 6 {
		_, _, err := d.SignIn(t.Context(), "nobody@example.com", secret("x"), here)
		d.refused("the first six", err, environment.KindUnauthenticated, "sign_in_failed")
	}
	_, _, err := d.SignIn(t.Context(), " NOBODY@example.com", secret("x"), here)
	d.refused("the seventh", err, environment.KindLimited, environment.CodeRateLimited)
}

// TestNobodyKeepsSomebodyOut: else it would take one wrong password each quarter
// of an hour to keep the only admin from signing in.
func TestNobodyKeepsSomebodyOut(t *testing.T) {
	d := newDeskWithAdmin(t)
	for range 20 {
		_, _, err := d.SignIn(t.Context(), adminEmail, secret("wrong"), identity.Client{Address: "203.0.113.9"})
		d.refused("a stranger's try", err, environment.KindUnauthenticated, "sign_in_failed")
		d.clock.pass(15 * time.Minute)
	}
	_, _, err := d.SignIn(t.Context(), adminEmail, secret("wrong"), identity.Client{Address: "203.0.113.9"})
	d.refused("the stranger's last", err, environment.KindUnauthenticated, "sign_in_failed")
	_, _, err = d.SignIn(t.Context(), adminEmail, secret(adminPassword), identity.Client{Address: "203.0.113.9"})
	d.refused("from there", err, environment.KindLimited, environment.CodeRateLimited)
	_, _, err = d.SignIn(t.Context(), adminEmail, secret(adminPassword), here)
	d.must(err)
}

// TestGuessesFromEverywhere: an account that is tried from a hundred networks is
// slow for all of them, though not for long.
func TestGuessesFromEverywhere(t *testing.T) {
	for _, email := range []string{adminEmail, "nobody@example.com"} {
		d := newDeskWithAdmin(t)
		from := func(n int) identity.Client { return identity.Client{Address: fmt.Sprintf("203.0.%d.7", n)} }
		for n := range 101 {
			_, _, err := d.SignIn(t.Context(), email, secret("wrong"), from(n))
			d.refused("a guess at "+email, err, environment.KindUnauthenticated, "sign_in_failed")
		}
		_, _, err := d.SignIn(t.Context(), email, secret("wrong"), from(200))
		d.refused("from one more network", err, environment.KindLimited, environment.CodeRateLimited)
		_, _, err = d.SignIn(t.Context(), "another@example.com", secret("wrong"), from(201))
		d.refused("another account", err, environment.KindUnauthenticated, "sign_in_failed")
		d.clock.pass(time.Minute)
		_, _, err = d.SignIn(t.Context(), email, secret("wrong"), from(202))
		d.refused("after a minute", err, environment.KindUnauthenticated, "sign_in_failed")
	}
}

// TestOwnAccountForgivesNoGuesses: whoever has an account of one's own could else
// reset the count of one's address between guesses at the accounts of others.
func TestOwnAccountForgivesNoGuesses(t *testing.T) {
	d := newDeskWithAdmin(t)
	for n := range 51 {
		_, _, err := d.SignIn(t.Context(), "victim"+string(rune('a'+n))+"@example.com", secret("x"), here)
		d.refused("a guess", err, environment.KindUnauthenticated, "sign_in_failed")
		if n == 25 {
			_, _, err := d.SignIn(t.Context(), adminEmail, secret(adminPassword), here)
			d.must(err)
		}
	}
	_, _, err := d.SignIn(t.Context(), "another@example.com", secret("x"), here)
	d.refused("the 52nd guess", err, environment.KindLimited, environment.CodeRateLimited)
}

// TestIPv6ClientIsOneClient: it has 2^64 addresses, and may not use each for fifty
// guesses.
func TestIPv6ClientIsOneClient(t *testing.T) {
	d := newDeskWithAdmin(t)
	try := func(n int, address string) error {
		_, _, err := d.SignIn(t.Context(), fmt.Sprintf("victim%d@example.com", n), secret("x"), identity.Client{Address: address})
		return err
	}
	for n := range 51 {
		d.refused("a guess", try(n, fmt.Sprintf("2001:db8:1:2::%x", n)), environment.KindUnauthenticated, "sign_in_failed")
	}
	d.refused("from one more address", try(51, "2001:db8:1:2:ffff::1"), environment.KindLimited, environment.CodeRateLimited)
	d.refused("from another network", try(52, "2001:db8:1:3::1"), environment.KindUnauthenticated, "sign_in_failed")
}

func TestStaleHashIsReplaced(t *testing.T) {
	d := newDesk(t)
	d.hasher.weak.Store(true)
	link, err := d.FirstAdminLink(t.Context())
	d.must(err)
	first, _, err := d.Redeem(t.Context(), link.Reveal(), identity.Redemption{Email: adminEmail, Name: "Ada", Password: secret(adminPassword)}, here)
	d.must(err)
	d.hasher.weak.Store(false)

	d.hasher.broken.Store(true)
	_, actor, err := d.SignIn(t.Context(), adminEmail, secret(adminPassword), here)
	d.must(err)
	if hash, err := d.store.PasswordHash(t.Context(), actor.ID); err != nil || hash[0] != '1' {
		t.Errorf("the hash is %.1s, %v; want the old one while no other can be made", hash, err)
	}
	d.hasher.broken.Store(false)

	_, _, err = d.SignIn(t.Context(), adminEmail, secret("wrong"), here)
	d.refused("a wrong password", err, environment.KindUnauthenticated, "sign_in_failed")
	if hash, err := d.store.PasswordHash(t.Context(), actor.ID); err != nil || hash[0] != '1' {
		t.Errorf("after a wrong password the hash is %.1s, %v", hash, err)
	}
	_, _, err = d.SignIn(t.Context(), adminEmail, secret(adminPassword), here)
	d.must(err)
	if hash, err := d.store.PasswordHash(t.Context(), actor.ID); err != nil || hash[0] != '2' {
		t.Errorf("the hash is %.1s, %v; want one of today's cost", hash, err)
	}
	if _, err := d.BySession(t.Context(), first.ID); err != nil {
		t.Errorf("a session from before the new hash: %v", err)
	}
}

func TestSignInForToken(t *testing.T) {
	d := newDeskWithAdmin(t)
	key, text, err := d.SignInForToken(t.Context(), adminEmail, secret(adminPassword), " my  laptop ", here)
	d.must(err)
	if key.Name != "my laptop" || !strings.HasSuffix(text.Reveal(), key.Hint) {
		t.Errorf("the token is %+v", key)
	}
	actor, err := d.ByBearer(t.Context(), text.Reveal())
	d.must(err)
	if actor.ID != d.admin.ID || actor.Credential != (environment.Credential{Kind: environment.CredentialToken, ID: key.ID}) {
		t.Errorf("the token is %+v's", actor)
	}
	_, _, err = d.SignInForToken(t.Context(), adminEmail, secret("wrong"), "laptop", here)
	d.refused("a wrong password", err, environment.KindUnauthenticated, "sign_in_failed")
	before := d.hasher.work()
	_, _, err = d.SignInForToken(t.Context(), adminEmail, secret(adminPassword), "  ", here)
	d.at("no name", err, "name")
	if d.hasher.work() != before {
		t.Error("a password was hashed for a token without a name")
	}
}

// lateStore changes the password just before a session begins.
type lateStore struct {
	*environmenttest.Store
	change func()
}

func (s lateStore) CreateSession(ctx context.Context, session environment.Session, expires time.Time, a environment.Activity) error {
	s.change()
	return s.Store.CreateSession(ctx, session, expires, a)
}

// TestSignInWithAPasswordThatIsChangedMeanwhile: whoever changes the password
// because somebody knows it ends that somebody's sign-in too.
func TestSignInWithAPasswordThatIsChangedMeanwhile(t *testing.T) {
	for name, next := range map[string]string{"another": "quite another secret", "only hashed anew": adminPassword} {
		t.Run(name, func(t *testing.T) {
			d := newDeskWithAdmin(t)
			service := d.service(lateStore{d.store, func() {
				d.must(d.store.SetPassword(t.Context(), d.admin.ID, "1"+sum(secret(next)), nil, environment.Activity{}))
			}})
			_, _, err := service.SignIn(t.Context(), adminEmail, secret(adminPassword), here)
			sessions, listErr := d.store.Sessions(t.Context(), d.admin.ID)
			d.must(listErr)
			if next == adminPassword {
				if err != nil || len(sessions) != 1 {
					t.Errorf("signed in: %v, %d sessions", err, len(sessions))
				}
				return
			}
			d.refused("with the old password", err, environment.KindUnauthenticated, "sign_in_failed")
			if len(sessions) != 0 {
				t.Errorf("%d sessions are left", len(sessions))
			}
		})
	}
}
