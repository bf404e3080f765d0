package handlers

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"berth/environment"
	"berth/handlers/api"
)

// remember puts an entry in the log at a time.
func (f *front) remember(a environment.Activity) {
	f.t.Helper()
	company := environment.Company{ID: environment.NewID(), Name: "Company " + environment.NewID().String()}
	if a.CompanyID == nil {
		a.CompanyID = &company.ID
	}
	a.ID = environment.NewID()
	if err := f.store.CreateCompany(f.t.Context(), company, a); err != nil {
		f.t.Fatal(err)
	}
}

func TestActivityFilters(t *testing.T) {
	f := newFront(t)
	day := time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)
	ada := environment.Actor{Kind: environment.ActorPerson, ID: environment.NewID(), Name: "Ada Löwe"}
	for i, action := range []string{"thing.created", "thing.updated", "thingy.updated"} {
		entry := environment.Activity{Action: action, EntityType: "thing", EntityID: fmt.Sprint(i), CompanyID: &f.company,
			CreatedAt: day.AddDate(0, 0, i)}
		f.remember(entry.By(ada))
	}
	foreign := environment.Activity{Action: "thing.created", EntityType: "thing", EntityID: "foreign", CreatedAt: day.Add(-time.Second)}
	f.remember(foreign.By(environment.System()))
	tests := []struct {
		name, query string
		want        []string
	}{
		{"an action", "action=thing.updated", []string{"1"}},
		{"a prefix of actions", "action=thing.", []string{"1", "0", "foreign"}},
		{"an actor, whatever the case", "actor=ADA+L%C3%96", []string{"2", "1", "0"}},
		{"an entity", "entityType=thing&entityId=2", []string{"2"}},
		{"since a day", "entityType=thing&since=2026-03-06", []string{"2", "1"}},
		{"since a time", "entityType=thing&since=2026-03-06T12:00:01Z", []string{"2"}},
		{"until a day, which is whole", "entityType=thing&until=2026-03-06", []string{"1", "0", "foreign"}},
		{"until a time", "entityType=thing&until=2026-03-06T13:00:00%2B01:00", []string{"0", "foreign"}},
		{"a company", "entityType=thing&companyId=" + f.company.String(), []string{"2", "1", "0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var list []api.Activity
			f.want(f.call("GET", "/api/activity?"+tt.query, ""), 200, &list)
			var got []string
			for _, a := range list {
				got = append(got, a.EntityID)
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	var own []api.Activity
	f.want(f.call("GET", "/api/companies/"+f.company.String()+"/activity?entityType=thing&limit=1", ""), 200, &own)
	if len(own) != 1 || own[0].EntityID != "2" || own[0].ActorID == nil || *own[0].ActorID != ada.ID || own[0].ActorType != "person" {
		t.Errorf("the company's newest: %+v", own)
	}
	for _, bad := range []string{"since=yesterday", "until=2026-02-30", "format=xml", "action=%00", "actor=" + strings.Repeat("a", 201), "limit=0", "cursor=x"} {
		f.want(f.call("GET", "/api/activity?"+bad, ""), 400, nil)
	}
	f.want(f.call("GET", "/api/companies/"+environment.NewID().String()+"/activity", ""), 404, nil)
}

// TestActivityExport: everything that fits, over several pages, in both formats.
func TestActivityExport(t *testing.T) {
	f := newFront(t)
	const n = 2*exportPage + 7
	for i := range n {
		f.remember(environment.Activity{Action: "thing.made", EntityType: "thing", EntityID: fmt.Sprint(i), ActorKind: environment.ActorSystem, ActorName: "berth"})
	}
	got := f.want(f.call("GET", "/api/activity?format=json&action=thing.made", ""), 200, nil)
	var list []api.Activity
	if err := json.Unmarshal([]byte(got.Body), &list); err != nil || len(list) != n {
		t.Fatalf("%d entries, %v", len(list), err)
	}
	if d := got.Header.Get("Content-Disposition"); !strings.HasPrefix(d, "attachment") || !strings.Contains(d, ".json") {
		t.Errorf("Content-Disposition: %q", d)
	}
	got = f.want(f.call("GET", "/api/activity?format=csv&action=thing.made", ""), 200, nil)
	rows, err := csv.NewReader(strings.NewReader(got.Body)).ReadAll()
	if err != nil || len(rows) != n+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, row := range rows[1:] {
		if row[6] != list[i].EntityID {
			t.Fatalf("row %d is %s, the list has %s", i, row[6], list[i].EntityID)
		}
		if row[8] != "{}" {
			t.Fatalf("the details are %q", row[8])
		}
	}
	empty := f.want(f.call("GET", "/api/activity?format=json&action=nothing.at.all", ""), 200, nil)
	if strings.TrimSpace(empty.Body) != "[]" {
		t.Errorf("nothing is %q", empty.Body)
	}
	if head := f.want(f.call("GET", "/api/activity?format=csv&action=nothing.at.all", ""), 200, nil); !strings.HasPrefix(head.Body, "createdAt,") {
		t.Errorf("nothing is %q", head.Body)
	}
	few := f.want(f.call("GET", "/api/activity?format=json&limit=3", ""), 200, &list)
	if len(list) != 3 {
		t.Errorf("with a limit of 3: %s", few.Body)
	}
}

// TestActivityExportIsNoFormula: a name that somebody chose does nothing in the
// spreadsheet of who reads the log.
func TestActivityExportIsNoFormula(t *testing.T) {
	f := newFront(t)
	names := []string{`=HYPERLINK("http://evil.test","x")`, "+1", "-1", "@SUM(1)", "\t=1", "plain, \"quoted\"\nand two lines"}
	for _, name := range names {
		f.remember(environment.Activity{Action: "named", ActorKind: environment.ActorPerson, ActorName: name, EntityID: name})
	}
	got := f.want(f.call("GET", "/api/activity?format=csv&action=named", ""), 200, nil)
	rows, err := csv.NewReader(strings.NewReader(got.Body)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, row := range rows {
		seen[row[3]] = true
		for _, cell := range row {
			if strings.ContainsAny(cell[:min(1, len(cell))], "=+-@\t\r") {
				t.Errorf("a cell begins as a formula does: %q", cell)
			}
		}
	}
	for _, name := range names[:5] {
		if !seen["'"+name] {
			t.Errorf("%q is not there as text", name)
		}
	}
	if !seen[names[5]] {
		t.Error("harmless text was changed")
	}
}

// TestActivityExportThatFails must not look like a whole one.
func TestActivityExportThatFails(t *testing.T) {
	for _, format := range []string{"csv", "json"} {
		f := newFront(t)
		for range exportPage + 1 {
			f.remember(environment.Activity{Action: "thing.made"})
		}
		reads := 0
		f.store.beforeActivity = func() error {
			if reads++; reads > 1 {
				return environment.Unavailable("database_unavailable", "The database does not answer.")
			}
			return nil
		}
		req, err := http.NewRequestWithContext(t.Context(), "GET", f.url+"/api/activity?"+url.Values{"format": {format}}.Encode(), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			continue // cut before anything came
		}
		_, err = io.ReadAll(resp.Body)
		if closeErr := resp.Body.Close(); closeErr != nil {
			t.Error(closeErr)
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: the export ended with %v, as if it were whole", format, err)
		}
	}
}

// TestActivityExportOfSomebodyDisabled: a file that takes long to send ends with
// the rights of who asked for it.
func TestActivityExportOfSomebodyDisabled(t *testing.T) {
	f := newAuthFront(t)
	ada := f.person("ada", true, "")
	f.person("grace", true, "")
	key, _ := f.key(environment.Key{PersonID: &ada.ID})
	for range exportPage + 1 {
		f.remember(environment.Activity{Action: "thing.made"})
	}
	var reads atomic.Int32
	f.store.beforeActivity = func() error {
		if reads.Add(1) == 1 {
			f.disable(ada)
		}
		return nil
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", f.url+"/api/activity?format=json", nil)
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err == nil { // else it was cut before anything came
		_, err = io.ReadAll(resp.Body)
		must(t, resp.Body.Close())
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		t.Errorf("the export ended with %v", err)
	}
	if n := reads.Load(); n != 1 {
		t.Errorf("%d pages were read", n)
	}
}
