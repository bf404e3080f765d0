package store_test

import (
	"context"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/example"
	"berth/store"
	"berth/store/cluster"
	"berth/store/storetest"

	"go.uber.org/goleak"
)

// within is a poll for a state that is not announced.
func within(t *testing.T, limit time.Duration, what string, done func() bool) {
	t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("%s: not within %s", what, limit)
		}
	}
}

// saved stores an environment under test, and returns its probe.
func saved(t *testing.T, db *store.DB) environment.Probe {
	t.Helper()
	local := example.Local().Environment
	if _, err := db.EnsureLocal(t.Context(), local, true); err != nil {
		t.Fatal(err)
	}
	p := example.QueuedProbe()
	p.EnvironmentID, p.CompanyID, p.ConfigRevision = &local.ID, nil, 1
	if _, _, err := db.CreateProbe(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestC83_EveryConnectionTerminated(t *testing.T) {
	address := storetest.URL(t)
	db := storetest.Open(t, address)
	feed := storetest.Listen(t, db)
	p := saved(t, db)
	wake, stop := feed.Subscribe(p.ID)
	defer stop()
	for range 3 {
		storetest.Exec(t, address, `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`)
		// A change that no notification tells of: the connection is away.
		storetest.Exec(t, address, `update probes set summary = summary || 'x'`)
		if err := db.Ping(t.Context()); err != nil {
			t.Errorf("first request after every connection was terminated: got %v, want an answer", err)
		}
		select {
		case <-wake:
		case <-time.After(10 * time.Second):
			t.Fatal("a reader was not woken after the connection came back")
		}
	}
	got, err := db.Probe(t.Context(), p.ID)
	if err != nil || got.Summary != "xxx" {
		t.Errorf("what a woken reader reads: got %q, %v, want the new text", got.Summary, err)
	}
	if ok, err := db.BeginProbe(t.Context(), p.ID); !ok || err != nil {
		t.Fatalf("begin a probe after the hiccup: got %v, %v", ok, err)
	}
	select {
	case <-wake:
	case <-time.After(10 * time.Second):
		t.Fatal("a reader was not woken by a notification on the new connection")
	}
}

func TestC83_DatabaseStoppedAndStarted(t *testing.T) {
	ctx, dir := t.Context(), storetest.DataDir(t)
	first, err := cluster.Start(ctx, dir, slog.New(slog.DiscardHandler), "fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Stop(context.WithoutCancel(ctx)) }()
	db := storetest.Open(t, first.URL())
	if err := db.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	feed := storetest.Listen(t, db)
	p := saved(t, db)
	wake, stop := feed.Subscribe(p.ID)
	defer stop()
	if err := first.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		began := time.Now()
		_, rerr := db.Probe(ctx, p.ID)
		_, werr := db.BeginProbe(ctx, p.ID)
		for _, err := range []error{rerr, werr} {
			if environment.CodeOf(err) != "database_unavailable" || environment.KindOf(err) != environment.KindUnavailable {
				t.Errorf("request while the database is away: got %v, want database_unavailable", err)
			}
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("requests while the database is away took %s", took)
		}
	}
	again, err := cluster.Start(ctx, dir, slog.New(slog.DiscardHandler), "fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Stop(context.WithoutCancel(ctx)) }()
	within(t, 10*time.Second, "the database answers again", func() bool { return db.Ping(ctx) == nil })
	select {
	case <-wake:
	case <-time.After(10 * time.Second):
		t.Fatal("a reader was not woken after the database came back")
	}
	if ok, err := db.BeginProbe(ctx, p.ID); !ok || err != nil {
		t.Errorf("begin a probe after the database came back: got %v, %v", ok, err)
	}
}

func TestC83_OddPassword(t *testing.T) {
	address := storetest.EmptyURL(t)
	for name, password := range map[string]string{"case": `p@ss#1%`, "worse": ` :/?#[]@!$&'()*+,;="\%41ü`} {
		t.Run(name, func(t *testing.T) {
			role := "odd_" + name
			storetest.Exec(t, address, `create role `+role+` login password '`+strings.ReplaceAll(password, `'`, `''`)+`'`)
			t.Cleanup(func() { storetest.Exec(t, address, `drop role `+role) })
			u, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			u.User = url.UserPassword(role, password)
			if err := storetest.Open(t, u.String()).Ping(t.Context()); err != nil {
				t.Errorf("connect with password %q: %v", password, err)
			}
		})
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	written := "postgres://odd_written:p%40ss%231%25@/" + strings.TrimPrefix(u.Path, "/") + "?" + u.RawQuery
	storetest.Exec(t, address, `create role odd_written login password 'p@ss#1%'`)
	t.Cleanup(func() { storetest.Exec(t, address, `drop role odd_written`) })
	storetest.Open(t, written)
}

func TestOpenRefusesAndHidesThePassword(t *testing.T) {
	const canary = "canary-password"
	for name, c := range map[string]struct{ url, code string }{
		"not a URL":      {"host=x password=" + canary, "database_url_invalid"},
		"broken escape":  {"postgres://u:" + canary + "%zz@h/db", "database_url_invalid"},
		"another scheme": {"mysql://u:" + canary + "@h/db", "database_url_invalid"},
		"bad option":     {"postgres://u:" + canary + "@127.0.0.1:1/db?sslmode=" + canary, "database_url_invalid"},
		"nobody there":   {"postgres://u:" + canary + "@127.0.0.1:1/db", "database_unavailable"},
		"no such socket": {"postgres://u:" + canary + "@/db?host=/nowhere", "database_unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := store.Open(t.Context(), c.url, slog.New(slog.DiscardHandler))
			if environment.CodeOf(err) != c.code || strings.Contains(err.Error(), canary) {
				t.Errorf("open %s: got %v, want %s without the password", name, err, c.code)
			}
		})
	}
}

func TestOpenGivesUpOnAHostThatSaysNothing(t *testing.T) {
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mute.Close() }()
	began := time.Now()
	_, err = store.Open(t.Context(), "postgres://u:p@"+mute.Addr().String()+"/db?sslmode=disable", slog.New(slog.DiscardHandler))
	if environment.CodeOf(err) != "database_unavailable" || time.Since(began) > 8*time.Second {
		t.Errorf("open a host that says nothing: got %v after %s, want database_unavailable soon", err, time.Since(began))
	}
}

func TestListenerEndsWithoutAGoroutine(t *testing.T) {
	address := storetest.URL(t)
	before := goleak.IgnoreCurrent()
	db, err := store.Open(t.Context(), address, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	l, err := db.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if err := db.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	goleak.VerifyNone(t, before)
}
