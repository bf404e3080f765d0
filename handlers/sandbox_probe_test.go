package handlers

import (
	"encoding/json"
	"strings"
	"testing"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
)

// TestProbe_sandbox: a result says what was recorded and why, wherever it is read;
// other drivers' results say nothing of it.
func TestProbe_sandbox(t *testing.T) {
	f := newFront(t)
	f.driver.open()
	for _, test := range []struct {
		name, image, code string
		recorded          bool
	}{
		{"by digest", pinned, environment.QualRecorded, true},
		{"by tag", "registry.test:5000/team/app:1", environment.QualMutableImage, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			env := f.createSandbox(test.name, test.image, "")
			got := f.testSandbox(env.ID, "")
			if !got.OK || got.Recorded == nil || *got.Recorded != test.recorded || got.Diagnostic == nil || got.Diagnostic.Code != test.code || got.Diagnostic.Message == "" {
				t.Fatalf("%+v, %+v", got, got.Diagnostic)
			}
			d := got.Details
			if d.Recorded == nil || *d.Recorded != test.recorded || d.Diagnostic == nil || *d.Diagnostic != *got.Diagnostic {
				t.Errorf("details say %+v", d.QualificationOutcome)
			}
			if d.Image == nil || d.Image.Reference != test.image || d.LeaseID == nil || d.CompanyID == nil || *d.CompanyID != f.company || d.Proves == "" {
				t.Errorf("details %+v", d)
			}
			if len(d.Stages) != len(environment.DockerStages()) || d.Stages[len(d.Stages)-1].Status != "ok" {
				t.Errorf("stages %+v", d.Stages)
			}
			var again api.ProbeResult
			f.want(f.call("GET", "/api/probes/"+d.ProbeID.String(), ""), 200, &again)
			var list []api.ProbeResult
			f.want(f.call("GET", "/api/environments/"+env.ID.String()+"/probes", ""), 200, &list)
			if !equalJSON(t, again, got) || len(list) != 1 || !equalJSON(t, list[0], got) {
				t.Errorf("read again: %+v, listed: %+v", again, list)
			}
			if now, _ := f.sandbox.held(); now != 0 {
				t.Errorf("%d sandboxes are left", now)
			}
		})
	}
	host := f.call("POST", "/api/environments/"+f.create("host")+"/probe", "")
	if host.Status != 200 || strings.Contains(host.Body, "platformQualification") || !strings.Contains(host.Body, `"image":null`) {
		t.Errorf("of a host: %d %s", host.Status, host.Body)
	}
	var draft api.ProbeResult
	f.want(f.call("POST", f.environments()+"/probe-config", `{"driver":"sandbox","config":{"provider":"docker","image":"`+pinned+`"}}`), 200, &draft)
	if draft.Recorded == nil || *draft.Recorded || draft.Diagnostic.Code != environment.QualDraft || draft.Details.LeaseID != nil {
		t.Errorf("of a draft: %+v %+v", draft, draft.Diagnostic)
	}
}

// TestProbe_company: a sandbox is tested for a company, which is asked for where it
// cannot be known.
func TestProbe_company(t *testing.T) {
	f := newFront(t)
	f.driver.open()
	env := f.createSandbox("box", pinned, "")
	if got := f.testSandbox(env.ID, ""); got.Details.CompanyID == nil || *got.Details.CompanyID != f.company {
		t.Errorf("with one company it is for %v", got.Details.CompanyID)
	}
	other, err := f.server.Catalogue.CreateCompany(t.Context(), environment.LocalOperator(), "Globex")
	if err != nil {
		t.Fatal(err)
	}
	bound := f.bound("bound")
	host := f.create("host")
	for _, test := range []struct {
		name, id, query string
		status          int
		says            string
	}{
		{"none of two", env.ID.String(), "", 422, `"company_required"`},
		{"a given one", env.ID.String(), "?companyId=" + other.ID.String(), 200, `"companyId":"` + other.ID.String() + `"`},
		{"one that is not there", env.ID.String(), "?companyId=" + unknownID(), 404, "company_not_found"},
		{"no id", env.ID.String(), "?companyId=x", 400, "invalid_id"},
		{"that of its secrets", bound.String(), "", 200, `"companyId":"` + f.company.String() + `"`},
		{"that of its secrets, given", bound.String(), "?companyId=" + f.company.String(), 200, `"companyId":"` + f.company.String() + `"`},
		{"another than that of its secrets", bound.String(), "?companyId=" + other.ID.String(), 409, environment.CodeCompanyMismatch},
		{"a host needs none", host, "", 200, `"companyId":null`},
		{"an unknown environment", unknownID(), "", 404, "environment_not_found"},
	} {
		a := f.call("POST", "/api/environments/"+test.id+"/probe"+test.query, "")
		if a.Status != test.status || !strings.Contains(a.Body, test.says) {
			t.Errorf("%s: %d %.400s, want %d and %s", test.name, a.Status, a.Body, test.status, test.says)
		}
	}
}

// bound makes a sandbox that uses a secret of Acme.
func (f *front) bound(name string) uuid.UUID {
	f.t.Helper()
	var secret struct{ ID uuid.UUID }
	f.want(f.call("POST", "/api/companies/"+f.company.String()+"/secrets", `{"name":"`+name+`","value":"v"}`), 201, &secret)
	ref, err := json.Marshal(environment.RefTo(secret.ID))
	if err != nil {
		f.t.Fatal(err)
	}
	return f.createSandbox(name, pinned, `,"registryUsername":"u","registryPasswordSecretRef":`+string(ref)).ID
}

// TestQualificationIsPrivate looks for the record in everything that can be read
// but for the probe's own result, as who may see everything.
func TestQualificationIsPrivate(t *testing.T) {
	f := newFront(t)
	env := f.createSandbox("box", pinned, "")
	if got := f.testSandbox(env.ID, ""); got.Recorded == nil || !*got.Recorded {
		t.Fatalf("nothing was recorded: %+v", got.Diagnostic)
	}
	record, err := f.store.Qualification(t.Context(), env.ID, f.company)
	if err != nil || record == nil || record.Fingerprint == "" {
		t.Fatalf("%+v, %v", record, err)
	}
	id := env.ID.String()
	reads := []struct{ method, path, body string }{
		{"GET", "/api/environments", ""}, {"GET", f.environments(), ""}, {"GET", "/api/environments/" + id, ""},
		{"GET", "/api/environments/" + id + "/delete-blast-radius", ""}, {"GET", "/api/environments/" + id + "/usage", ""},
		{"GET", "/api/environments/" + id + "/secret-refs", ""}, {"GET", f.environments() + "/capabilities", ""},
		{"PATCH", "/api/environments/" + id, `{"description":"d"}`},
		{"POST", f.environments(), `{"name":"copy","driver":"sandbox","config":{"provider":"docker","image":"` + pinned + `"},"metadata":{"a":1}}`},
		{"GET", "/api/activity", ""}, {"GET", "/api/activity?format=csv", ""}, {"GET", "/api/activity?format=json", ""},
		{"GET", "/api/companies/" + f.company.String() + "/activity", ""}, {"GET", "/api/openapi.json", ""}, {"GET", "/api/instance/settings", ""},
		{"GET", "/metrics", ""},
	}
	for _, r := range reads {
		a := f.call(r.method, r.path, r.body)
		if a.Status >= 300 {
			t.Errorf("%s %s: %d %s", r.method, r.path, a.Status, a.Body)
		}
		for name, trace := range map[string]string{"fingerprint": record.Fingerprint, "image's id": scriptedID, "receipt": "measuredAt", "key": `"platformQualification"`} {
			if strings.Contains(a.Body, trace) {
				t.Errorf("%s %s shows the record's %s: %.600s", r.method, r.path, name, a.Body)
			}
		}
	}
	f.want(f.call("DELETE", "/api/environments/"+id, ""), 200, nil)
}

// TestPinImage: the digest that the last probe of this config read for a tag.
func TestPinImage(t *testing.T) {
	f := newFront(t)
	env := f.createSandbox("box", "registry.test:5000/team/app:1", "")
	path := "/api/environments/" + env.ID.String()
	if a := f.call("POST", path+"/pin-image", ""); a.Status != 409 || !strings.Contains(a.Body, "nothing_to_pin") {
		t.Errorf("before any probe: %d %s", a.Status, a.Body)
	}
	f.testSandbox(env.ID, "")
	for header, status := range map[string]int{`If-Match: "7"`: 412, "If-Match: x": 400} {
		if a := f.call("POST", path+"/pin-image", "", header); a.Status != status {
			t.Errorf("%s: %d %s", header, a.Status, a.Body)
		}
	}
	var got api.Environment
	a := f.want(f.call("POST", path+"/pin-image", "{}", `If-Match: "1"`), 200, &got)
	if !strings.Contains(string(got.Config), "registry.test:5000/team/app:1@"+scriptedDigest) || got.Revision != 2 || a.Header.Get("ETag") != `"2"` {
		t.Errorf("%s, revision %d, ETag %s", got.Config, got.Revision, a.Header.Get("ETag"))
	}
	if probe := f.testSandbox(env.ID, ""); probe.Recorded == nil || !*probe.Recorded {
		t.Errorf("a probe of it: %+v", probe.Diagnostic)
	}
	if a := f.call("POST", "/api/environments/"+unknownID()+"/pin-image", ""); a.Status != 404 {
		t.Errorf("of one that is not there: %d %s", a.Status, a.Body)
	}
}
