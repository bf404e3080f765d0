package store_test

import (
	"database/sql"
	"testing"

	"berth/environment"
	"berth/environment/running"
	"berth/migrations"
	"berth/store/storetest"

	"github.com/pressly/goose/v3"
)

// TestSearchOfManyRunsGoesOn: one page of a search looks at so many runs only,
// and the next one goes on there.
func TestSearchOfManyRunsGoesOn(t *testing.T) {
	url := storetest.URL(t)
	db := storetest.Open(t, url)
	c := environment.Company{ID: environment.NewID(), Name: "Acme"}
	if err := db.CreateCompany(t.Context(), c, environment.Activity{}); err != nil {
		t.Fatal(err)
	}
	storetest.Exec(t, url, `
		insert into runs (id, company_id, environment_name, driver, target, kind, command, timeout_sec, status, owner, actor_name, search, created_at)
		select gen_random_uuid(), $1::uuid, 'box', 'ssh', 'box:22', 'command', '["true"]', 60, 'succeeded', $1::uuid, 'Ada',
			case n when 1 then 'needle' when 20005 then 'needle' else 'hay' end, now() - n * interval '1 second'
		from generate_series(1, 20010) n`, c.ID)
	filter := running.Filter{CompanyID: &c.ID, Query: "Needle", Limit: 10}
	for n, last := range []bool{false, true} {
		page, err := db.Runs(t.Context(), filter)
		if err != nil || len(page.Items) != 1 || (page.Next == "") != last {
			t.Fatalf("page %d: %d runs, next %q, %v; want one, the last: %t", n+1, len(page.Items), page.Next, err, last)
		}
		filter.Cursor = page.Next
	}
}

// TestSearchFindsRunsOfBefore: the migration fills in what is searched.
func TestSearchFindsRunsOfBefore(t *testing.T) {
	url := storetest.EmptyURL(t)
	old, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Close() }()
	steps, err := goose.NewProvider(goose.DialectPostgres, old, migrations.Files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := steps.UpTo(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	company := environment.NewID()
	storetest.Exec(t, url, `insert into companies (id, name, name_key) values ($1, 'Acme', 'acme')`, company)
	storetest.Exec(t, url, `
		insert into runs (id, company_id, environment_name, driver, target, kind, title, command, timeout_sec, status, owner, actor_name)
		values ($1::uuid, $2::uuid, 'Build Box', 'ssh', 'box:22', 'command', 'A Title', '["Make", "-j"]', 60, 'succeeded', $1::uuid, 'Ada')`, environment.NewID(), company)
	if _, err := steps.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	db := storetest.Open(t, url)
	for query, want := range map[string]int{"a title": 1, "build b": 1, "make -J": 1, "box:22": 0} {
		page, err := db.Runs(t.Context(), running.Filter{Query: query})
		if err != nil || len(page.Items) != want {
			t.Errorf("%s: got %d, %v, want %d", query, len(page.Items), err, want)
		}
	}
	down(t, steps)
}
