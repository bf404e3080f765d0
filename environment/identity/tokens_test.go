package identity_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/environmenttest"
	"berth/environment/identity"

	"github.com/google/uuid"
)

func TestCreateToken(t *testing.T) {
	d := newDeskWithAdmin(t)
	for days, want := range map[int]time.Duration{0: 0, 1: 24 * time.Hour, 3650: 3650 * 24 * time.Hour} {
		key, _, err := d.CreateToken(t.Context(), d.admin, "laptop", days)
		d.must(err)
		switch {
		case days == 0 && key.ExpiresAt != nil:
			t.Errorf("without a life it expires at %s", key.ExpiresAt)
		case days > 0 && (key.ExpiresAt == nil || !key.ExpiresAt.Equal(d.clock.now().Add(want))):
			t.Errorf("%d days: expires at %v", days, key.ExpiresAt)
		}
	}
	for name, tc := range map[string]struct {
		name  string
		days  int
		field string
	}{
		"no name": {"", 0, "name"}, "a long name": {strings.Repeat("x", 121), 0, "name"},
		"a day less than none": {"laptop", -1, "lifeDays"}, "a day too many": {"laptop", 3651, "lifeDays"},
	} {
		_, _, err := d.CreateToken(t.Context(), d.admin, tc.name, tc.days)
		d.at(name, err, tc.field)
	}
	_, _, err := d.CreateToken(t.Context(), d.admin, "", -1)
	if e := environment.AsError(err); len(e.Fields) != 2 {
		t.Errorf("both are wrong: %+v", e)
	}
}

// TestTokenTextIsNowhere: but in the one answer.
func TestTokenTextIsNowhere(t *testing.T) {
	d := newDeskWithAdmin(t)
	key, text, err := d.CreateToken(t.Context(), d.admin, "laptop", 7)
	d.must(err)
	entry := d.one("token.created", 1)
	if entry.Details["keyId"] != key.ID || entry.Details["name"] != "laptop" || entry.Details["hint"] != key.Hint {
		t.Errorf("the log says %+v", entry.Details)
	}
	for name, value := range entry.Details {
		if s, ok := value.(string); ok && len(s) > 4 && strings.Contains(text.Reveal(), s) {
			t.Errorf("the log holds a part of the text in %s", name)
		}
	}
	if strings.Contains(d.log.String(), text.Reveal()) {
		t.Error("the server's log holds the text")
	}
}

func TestTokensEnd(t *testing.T) {
	d := newDeskWithAdmin(t)
	key, text, err := d.CreateToken(t.Context(), d.admin, "laptop", 1)
	d.must(err)
	actor, err := d.ByBearer(t.Context(), text.Reveal())
	d.must(err)
	d.clock.pass(24*time.Hour - time.Second)
	if _, err := d.Again(t.Context(), actor); err != nil {
		t.Errorf("a second before its end: %v", err)
	}
	d.clock.pass(time.Second)
	for name, err := range map[string]error{
		"shown": second(d.ByBearer(t.Context(), text.Reveal())), "asked again": second(d.Again(t.Context(), actor)),
	} {
		d.refused("expired, "+name, err, environment.KindUnauthenticated, "invalid_key")
	}

	bob := d.join("bob@example.com", identity.Invitation{})
	kept, _, err := d.CreateToken(t.Context(), bob, "laptop", 0)
	d.must(err)
	d.refused("of somebody else", d.RevokeToken(t.Context(), d.admin, kept.ID), environment.KindNotFound, "key_not_found")
	d.refused("that never was", d.RevokeToken(t.Context(), d.admin, environment.NewID()), environment.KindNotFound, "key_not_found")
	d.must(d.RevokeToken(t.Context(), d.admin, key.ID))
	d.must(d.RevokeToken(t.Context(), d.admin, key.ID)) // twice is not an error
}

func second[T any](_ T, err error) error { return err }

// TestBearerTextsThatDoNotCount: forged, cut, revoked, of another sort.
func TestBearerTextsThatDoNotCount(t *testing.T) {
	d := newDeskWithAdmin(t)
	key, text, err := d.CreateToken(t.Context(), d.admin, "laptop", 0)
	d.must(err)
	_, link, err := d.Invite(t.Context(), d.admin, identity.Invitation{Email: "eve@example.com"})
	d.must(err)
	good := text.Reveal()
	forged, _, err := environment.NewToken(environment.TokenPerson, strings.NewReader(strings.Repeat("x", 32)))
	d.must(err)
	for name, text := range map[string]string{
		"empty": "", "a word": "null", "cut": good[:len(good)-1], "with more": good + "x", "in capitals": strings.ToUpper(good),
		"a well-formed one that nobody made": forged.Reveal(), "a link's": link.Reveal(), "very long": strings.Repeat(good, 10_000),
		"a session's id": d.admin.Credential.ID.String(),
	} {
		_, err := d.ByBearer(t.Context(), text)
		d.refused(name, err, environment.KindUnauthenticated, "invalid_key")
	}
	_, err = d.ByBearer(t.Context(), good)
	d.must(err)
	d.must(d.RevokeToken(t.Context(), d.admin, key.ID))
	_, err = d.ByBearer(t.Context(), good)
	d.refused("revoked", err, environment.KindUnauthenticated, "invalid_key")
}

// lingering is a store that lets others go first once it has read the tokens.
type lingering struct{ *environmenttest.Store }

func (l lingering) KeysOfPerson(ctx context.Context, person uuid.UUID) ([]environment.Key, error) {
	keys, err := l.Store.KeysOfPerson(ctx, person)
	for range 200 {
		runtime.Gosched()
	}
	return keys, err
}

// TestFiftyTokens: also when they are asked for all at once; what is revoked or
// expired does not count.
func TestFiftyTokens(t *testing.T) {
	d := newDeskWithAdmin(t)
	d.Service = d.service(lingering{d.store})
	var group sync.WaitGroup
	refused := make(chan error, 60)
	for range 60 {
		group.Go(func() {
			if _, _, err := d.CreateToken(t.Context(), d.admin, "laptop", 1); err != nil {
				refused <- err
			}
		})
	}
	group.Wait()
	close(refused)
	if len(refused) != 10 {
		t.Errorf("%d of 60 were refused, want 10", len(refused))
	}
	for err := range refused {
		d.refused("one above the limit", err, environment.KindConflict, "too_many_keys")
	}
	account, err := d.Account(t.Context(), d.admin)
	d.must(err)
	d.must(d.RevokeToken(t.Context(), d.admin, account.Tokens[0].ID))
	_, _, err = d.CreateToken(t.Context(), d.admin, "in the place of the revoked", 1)
	d.must(err)
	_, _, err = d.CreateToken(t.Context(), d.admin, "one more", 1)
	d.refused("full again", err, environment.KindConflict, "too_many_keys")
	_, _, err = d.SignInForToken(t.Context(), adminEmail, secret(adminPassword), "with the password", here)
	d.refused("full for a program too", err, environment.KindConflict, "too_many_keys")
	d.clock.pass(24 * time.Hour)
	_, _, err = d.CreateToken(t.Context(), d.admin, "after the others expired", 1)
	d.must(err)
}
