// Package storetest gives tests a PostgreSQL of their own: one cluster for each
// test binary, and a fresh migrated database in it for each test.
package storetest

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/environment/environmenttest"
	"berth/store"

	"github.com/jmoiron/sqlx"
)

// template is the migrated database that each test's is a copy of.
const template = "berth_template"

// seasoned is template, made to say that it has been up for long; see LongUp.
const seasoned = "berth_template_up"

// limit bounds each step that a test waits for.
const limit = time.Minute

// Stores is a database with its notifications.
type Stores struct {
	*store.DB
	*store.Listener
	url string
}

// Age makes every lease older, as if that time had passed for them by the
// database's clock.
func (s Stores) Age(ctx context.Context, d time.Duration) error {
	db, err := sqlx.Open("postgres", s.url)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(ctx, `
		with past as (select $1::double precision * interval '1 second' as by)
		update environment_leases set heartbeat_at = heartbeat_at - by, expires_at = expires_at - by, cleanup_next_at = cleanup_next_at - by,
			cleanup_claim_until = cleanup_claim_until - by, used_from = used_from - by, used_until = used_until - by from past`, d.Seconds())
	return err
}

// LongUp makes a database say that it started a day before it did, so that what
// waits for a while after its start need not.
func LongUp(t testing.TB, url string) {
	t.Helper()
	Exec(t, url, `create or replace function database_started() returns timestamptz language sql stable as
		'select pg_postmaster_start_time() - interval ''1 day'' '`)
}

var _ environmenttest.Stores = Stores{}

// Close ends both.
func (s Stores) Close() error {
	if err := s.Listener.Close(); err != nil {
		return err
	}
	return s.DB.Close()
}

// New returns a fresh, migrated database that is closed and dropped when the
// test ends.
func New(t testing.TB) *store.DB {
	t.Helper()
	return Open(t, URL(t))
}

// Open opens a database, for as long as the test runs.
func Open(t testing.TB, url string) *store.DB {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	db, err := store.Open(ctx, url, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("open the test's database: %v", err)
	}
	// An error says that a connection was lost before, which a test may want.
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Listen returns the notifications of a database, for as long as the test runs.
func Listen(t testing.TB, db *store.DB) *store.Listener {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	l, err := db.Listen(ctx)
	if err != nil {
		t.Fatalf("listen to the test's database: %v", err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("stop listening: %v", err)
		}
	})
	return l
}

// NewStores returns a fresh database with its notifications, which has been up for
// a day.
func NewStores(t testing.TB) Stores {
	t.Helper()
	s := started(t)
	s.season.Do(func() {
		s.exec(t, "create database "+seasoned+" template "+template)
		LongUp(t, s.url(seasoned))
	})
	address := fresh(t, seasoned)
	db := Open(t, address)
	return Stores{DB: db, Listener: Listen(t, db), url: address}
}

// URL returns the address of a fresh, migrated database that is dropped when
// the test ends.
func URL(t testing.TB) string {
	t.Helper()
	return fresh(t, template)
}

// EmptyURL returns the address of a fresh database without a schema.
func EmptyURL(t testing.TB) string {
	t.Helper()
	return fresh(t, "template0")
}

// The files are copied: with a cluster that waits for no disk that takes half the
// time of going through the log.
func fresh(t testing.TB, from string) string {
	t.Helper()
	s := started(t)
	name := fmt.Sprintf("test_%d", s.count.Add(1))
	s.exec(t, "create database "+name+" template "+from+" strategy file_copy")
	t.Cleanup(func() { s.exec(t, "drop database "+name+" with (force)") })
	return s.url(name)
}

// Exec runs a statement in a database, for what no method of the store does.
func Exec(t testing.TB, url, statement string, args ...any) {
	t.Helper()
	execWithin(t, limit, url, statement, args...)
}

// ExecSlowly is Exec for a statement that may take minutes, such as one that
// fills a database for a benchmark.
func ExecSlowly(t testing.TB, url, statement string, args ...any) {
	t.Helper()
	execWithin(t, 10*time.Minute, url, statement, args...)
}

func execWithin(t testing.TB, limit time.Duration, url, statement string, args ...any) {
	t.Helper()
	db, err := sqlx.Open("postgres", url)
	if err != nil {
		t.Fatalf("open the database: %v", err)
	}
	defer func() { _ = db.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if _, err := db.ExecContext(ctx, statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// server is the cluster of this test binary.
type server struct {
	base  string   // postgres:// URL of no particular database
	hold  *os.File // while it is open the cluster runs
	count atomic.Int64

	season sync.Once // makes the template seasoned
}

// started returns the cluster; the first call starts it.
func started(t testing.TB) *server {
	t.Helper()
	s, err := once()
	if err != nil {
		t.Fatalf("start a PostgreSQL for tests: %v", err)
	}
	return s
}

// once is the one thing in this package that outlives a test: a cluster costs
// a second, a database a few milliseconds.
var once = sync.OnceValues(start)

func start() (*server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	base, hold, err := launch(ctx)
	if err != nil {
		return nil, err
	}
	s := &server{base: base, hold: hold}
	if err := s.do(ctx, "create database "+template+" template template0"); err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, s.url(template), slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	if err := db.Migrate(ctx); err != nil {
		return nil, err
	}
	return s, db.Close()
}

func (s *server) url(database string) string {
	u, err := url.Parse(s.base)
	if err != nil {
		return s.base // it was made by url.URL
	}
	u.Path = "/" + database
	return u.String()
}

func (s *server) exec(t testing.TB, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := s.do(ctx, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func (s *server) do(ctx context.Context, statement string) error {
	db, err := sqlx.Open("postgres", s.url("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(ctx, statement)
	return err
}

// DataDir returns a folder for a data folder of a test. Unlike t.TempDir's it
// can be reached by the ordinary user that runs PostgreSQL for root, and its
// path is short enough for a socket.
func DataDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "berth-")
	if err != nil {
		t.Fatalf("make a data folder: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the data folder: %v", err)
		}
	})
	return dir
}
