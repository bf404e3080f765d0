package vault_test

import (
	"crypto/rand"
	"log/slog"
	"slices"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/environmenttest"
	"berth/environment/identity"
	"berth/store/vault"
)

var _ identity.Hasher = (*vault.Hasher)(nil)

// TestFailuresTakeTheSameTime: with the real hasher nobody can tell an account
// from none by the time that a failed sign-in takes. Each is tried in turn, so
// that a busy machine slows all of them down.
func TestFailuresTakeTheSameTime(t *testing.T) {
	store := environmenttest.NewStore(time.Now)
	s := identity.New(store, vault.NewHasher(), rand.Reader, identity.Options{}, time.Now, slog.New(slog.DiscardHandler))
	link, err := s.FirstAdminLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	right := environment.NewSecret("a long enough secret")
	_, ada, err := s.Redeem(t.Context(), link.Reveal(), identity.Redemption{Email: "ada@example.com", Name: "Ada", Password: right}, identity.Client{})
	if err != nil {
		t.Fatal(err)
	}
	_, token, err := s.Invite(t.Context(), ada, identity.Invitation{Email: "gone@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	_, gone, err := s.Redeem(t.Context(), token.Reveal(), identity.Redemption{Name: "Gone", Password: right}, identity.Client{})
	if err != nil {
		t.Fatal(err)
	}
	disabled := true
	if _, err := s.UpdatePerson(t.Context(), ada, gone.ID, identity.PersonPatch{Disabled: &disabled}); err != nil {
		t.Fatal(err)
	}
	taken := map[string][]time.Duration{}
	for range 3 {
		for email, password := range map[string]environment.Secret{
			"ada@example.com": environment.NewSecret("wrong"), "gone@example.com": right, "nobody@example.com": right, "no address": right,
		} {
			began := time.Now()
			_, _, err := s.SignIn(t.Context(), email, password, identity.Client{})
			taken[email] = append(taken[email], time.Since(began))
			if environment.CodeOf(err) != "sign_in_failed" {
				t.Fatalf("as %q: got %v, want sign_in_failed", email, err)
			}
		}
	}
	slowest, quickest := time.Duration(0), time.Hour
	for email, times := range taken {
		slices.Sort(times)
		t.Logf("%s: %s", email, times[1])
		slowest, quickest = max(slowest, times[1]), min(quickest, times[1])
	}
	if quickest < slowest/2 {
		t.Errorf("one sort of failure takes %s, another %s", quickest, slowest)
	}
}
