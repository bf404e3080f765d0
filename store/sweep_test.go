package store_test

import (
	"bytes"
	"testing"
	"time"

	"berth/environment"
	"berth/store"
	"berth/store/storetest"
)

func TestCookies(t *testing.T) {
	c, ctx := store.Cookies{DB: storetest.New(t)}, t.Context()
	find := func(token string, want []byte) {
		t.Helper()
		got, found, err := c.FindCtx(ctx, token)
		if err != nil || found != (want != nil) || !bytes.Equal(got, want) {
			t.Errorf("find %s: got %q, %t, %v, want %q", token, got, found, err, want)
		}
	}
	find("none", nil)
	for _, data := range []string{"first", "second\x00\xff"} {
		if err := c.CommitCtx(ctx, "one", []byte(data), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		find("one", []byte(data))
	}
	if err := c.Commit("late", []byte("x"), time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	find("late", nil)
	if n, err := c.DB.SweepExpired(ctx); err != nil || n != 1 {
		t.Errorf("swept: got %d, %v, want the one that expired", n, err)
	}
	for range 2 {
		if err := c.Delete("one"); err != nil {
			t.Fatal(err)
		}
	}
	find("one", nil)
}

func TestSweepLeavesWhatCounts(t *testing.T) {
	url, ctx := storetest.URL(t), t.Context()
	db := storetest.Open(t, url)
	link := func(age string) environment.Link {
		l := environment.Link{ID: environment.NewID(), Kind: environment.LinkInvitation, Email: age + "@example.com", ExpiresAt: time.Now().Add(time.Hour)}
		if err := db.CreateLink(ctx, l, []byte(age), environment.Activity{}); err != nil {
			t.Fatal(err)
		}
		storetest.Exec(t, url, `update one_time_links set expires_at = now() - $2::interval where id = $1`, l.ID, age)
		return l
	}
	link("40 days")
	link("20 days")
	fresh := link("-1 hour")
	person, err := db.Redeem(ctx, []byte("-1 hour"), environment.Person{ID: environment.NewID(), Name: "Ada"}, "hash", environment.Activity{})
	if err != nil {
		t.Fatal(err)
	}
	for _, life := range []time.Duration{time.Hour, -time.Hour} {
		s := environment.Session{ID: environment.NewID(), PersonID: person.ID}
		if err := db.CreateSession(ctx, s, time.Now().Add(life), environment.Activity{}); err != nil {
			t.Fatal(err)
		}
	}
	for range 8 {
		if _, err := db.SignInFailed(ctx, []string{"old", "new"}); err != nil {
			t.Fatal(err)
		}
	}
	storetest.Exec(t, url, `update sign_in_failures set last_at = now() - interval '61 minutes', wait_until = now() where key = 'old'`)
	if n, err := db.SweepExpired(ctx); err != nil || n != 3 {
		t.Errorf("swept: got %d, %v, want a link, a session and a failure", n, err)
	}
	if left, err := db.Sessions(ctx, person.ID); err != nil || len(left) != 1 {
		t.Errorf("sessions that are left: got %+v, %v", left, err)
	}
	if until, err := db.SignInWait(ctx, []string{"new"}); err != nil || until.IsZero() {
		t.Errorf("a wait that is on: got %s, %v", until, err)
	}
	if l, err := db.Link(ctx, []byte("-1 hour")); err != nil || l.ID != fresh.ID || l.UsedAt == nil {
		t.Errorf("a link that was just used: got %+v, %v", l, err)
	}
}

// TestFailuresAreForgiven holds that failures older than an hour do not count with
// the next one.
func TestFailuresAreForgiven(t *testing.T) {
	url, ctx := storetest.URL(t), t.Context()
	db := storetest.Open(t, url)
	for range 9 {
		if _, err := db.SignInFailed(ctx, []string{"account"}); err != nil {
			t.Fatal(err)
		}
	}
	storetest.Exec(t, url, `update sign_in_failures set last_at = now() - interval '61 minutes', wait_until = now() - interval '45 minutes'`)
	if until, err := db.SignInFailed(ctx, []string{"account"}); err != nil || !until.IsZero() {
		t.Errorf("wait after a failure long after the others: got %s, %v, want none", until, err)
	}
}
