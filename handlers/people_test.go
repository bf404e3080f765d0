package handlers

import (
	"strings"
	"testing"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
)

func TestPeopleByJSON(t *testing.T) {
	o := newOffice(t)
	bob := o.join("bob@example.com", environment.RoleMember)
	var people []api.Person
	o.admin.want(o.admin.ask("GET", "/api/people", nil), 200, &people)
	if len(people) != 2 || people[0].Name != "Ada" || people[1].Name != "bob" || len(people[1].Memberships) != 1 {
		t.Fatalf("the people are %+v", people)
	}
	a := o.admin.ask("GET", "/api/people?limit=1", nil)
	o.admin.want(a, 200, &people)
	next, _, _ := strings.Cut(strings.TrimPrefix(a.Header.Get("Link"), "<"), ">")
	o.admin.want(o.admin.ask("GET", next, nil), 200, &people)
	if len(people) != 1 || people[0].Name != "bob" {
		t.Errorf("the second page is %+v", people)
	}
	path := "/api/people/" + people[0].ID.String()
	var person api.Person
	o.admin.want(o.admin.ask("PATCH", path, `{"name":"Robert","email":"rob@example.com"}`), 200, &person)
	if person.Name != "Robert" || person.Email != "rob@example.com" || person.Disabled || person.Memberships[0].Role != "member" {
		t.Errorf("changed to %+v", person)
	}
	bob.want(bob.ask("GET", "/api/account", nil), 200, nil) // still signed in
	o.admin.want(o.admin.ask("PATCH", path, `{"disabled":true}`), 200, &person)
	if !person.Disabled {
		t.Errorf("changed to %+v", person)
	}
	bob.refused("disabled", bob.ask("GET", "/api/account", nil), 401, "unauthenticated")
	o.admin.refused("a link for somebody disabled", o.admin.ask("POST", path+"/password-link", nil), 409, "person_disabled")
	o.admin.want(o.admin.ask("PATCH", path, `{"disabled":false}`), 200, nil)

	for name, tc := range map[string]struct {
		path, body string
		status     int
		code       string
		fields     []string
	}{
		"no name":        {path, `{"name":" "}`, 422, "validation_failed", []string{"name"}},
		"both are wrong": {path, `{"name":"","email":"x"}`, 422, "validation_failed", []string{"name", "email"}},
		"taken":          {path, `{"email":"ADA@example.com"}`, 409, "email_taken", []string{"email"}},
		"null":           {path, `{"disabled":null}`, 400, "invalid_body", []string{"disabled"}},
		"a password":     {path, `{"password":"x"}`, 400, "unknown_key", []string{"password"}},
		"roles":          {path, `{"memberships":[]}`, 400, "unknown_key", []string{"memberships"}},
		"nobody":         {"/api/people/" + uuid.NewString(), `{"name":"X"}`, 404, "person_not_found", nil},
		"no id":          {"/api/people/me", `{"name":"X"}`, 400, "invalid_id", nil},
	} {
		o.admin.refused(name, o.admin.ask("PATCH", tc.path, tc.body), tc.status, tc.code, tc.fields...)
	}
}

// TestLastAdminStays: neither disabled nor demoted, and told what to do.
func TestLastAdminStays(t *testing.T) {
	o := newOffice(t)
	var me api.Me
	o.admin.want(o.admin.ask("GET", "/api/cli-auth/me", nil), 200, &me)
	for _, body := range []string{`{"disabled":true}`, `{"isInstanceAdmin":false}`} {
		o.admin.refused(body, o.admin.ask("PATCH", "/api/people/"+me.UserID.String(), body), 409, "last_admin")
	}
	o.admin.want(o.admin.ask("GET", "/api/people/"+me.UserID.String(), nil), 200, nil)
}

func TestSignOutPersonByJSON(t *testing.T) {
	o := newOffice(t)
	bob := o.join("bob@example.com", "")
	var account api.Account
	bob.want(bob.ask("GET", "/api/account", nil), 200, &account)
	var made api.MadeKey
	bob.want(bob.ask("POST", "/api/account/tokens", api.NewKey{Name: "laptop"}), 201, &made)
	path := "/api/people/" + account.Person.ID.String() + "/sign-out"
	var ended api.Ended
	o.admin.want(o.admin.ask("POST", path, nil), 200, &ended)
	if ended.Ended != len(account.Sessions) {
		t.Errorf("ended %d, want %d", ended.Ended, len(account.Sessions))
	}
	bob.refused("the browser", bob.ask("GET", "/api/account", nil), 401, "unauthenticated")
	p := o.program(made.Token)
	p.want(p.ask("GET", "/api/account", nil), 200, nil)
	o.admin.want(o.admin.ask("POST", path, `{"tokens":true}`), 200, &ended)
	p.refused("the token", p.ask("GET", "/api/account", nil), 401, "invalid_key")
	o.admin.refused("nobody", o.admin.ask("POST", "/api/people/"+uuid.NewString()+"/sign-out", nil), 404, "person_not_found")
}

func TestInvitationsByJSON(t *testing.T) {
	o := newOffice(t)
	var made api.MadeInvitation
	a := o.admin.ask("POST", "/api/invitations", `{"email":"Bob@example.com","memberships":[{"companyId":"`+o.company+`","role":"owner"}]}`)
	o.admin.want(a, 201, &made)
	if !strings.HasPrefix(made.URL, o.url+"/link/berth_link_") || made.Kind != "invitation" || made.CreatedBy != "Ada" || len(made.Memberships) != 1 {
		t.Errorf("made %s", a.Body)
	}
	_, token, _ := strings.Cut(made.URL, "/link/")
	a = o.admin.ask("GET", "/api/invitations", nil)
	var open []api.Invitation
	o.admin.want(a, 200, &open)
	if len(open) != 1 || open[0].ID != made.ID || strings.Contains(a.Body, token) || strings.Contains(o.log.String(), token) {
		t.Errorf("open are %s", a.Body)
	}
	for name, tc := range map[string]struct {
		body   string
		status int
		code   string
		fields []string
	}{
		"no address":     {`{}`, 422, "validation_failed", []string{"email"}},
		"here already":   {`{"email":"ADA@example.com"}`, 409, "email_taken", []string{"email"}},
		"a wrong role":   {`{"email":"x@example.com","memberships":[{"companyId":"` + o.company + `","role":"king"}]}`, 422, "validation_failed", []string{"memberships"}},
		"no company":     {`{"email":"x@example.com","memberships":[{"companyId":"` + uuid.NewString() + `","role":"member"}]}`, 422, "validation_failed", []string{"memberships"}},
		"no id":          {`{"email":"x@example.com","memberships":[{"companyId":"x","role":"member"}]}`, 400, "invalid_body", []string{"memberships[0].companyId"}},
		"an unknown key": {`{"email":"x@example.com","memberships":[{"companyId":"` + o.company + `","role":"member","x":1}]}`, 400, "unknown_key", []string{"memberships[0].x"}},
		"twice": {`{"email":"x@example.com","memberships":[{"companyId":"` + o.company + `","role":"member"},{"companyId":"` + o.company + `","role":"owner"}]}`,
			400, "invalid_body", []string{"memberships[1].companyId"}},
		"not a list": {`{"email":"x@example.com","memberships":{}}`, 400, "invalid_body", []string{"memberships"}},
	} {
		o.admin.refused(name, o.admin.ask("POST", "/api/invitations", tc.body), tc.status, tc.code, tc.fields...)
	}
	o.admin.want(o.admin.ask("DELETE", "/api/invitations/"+made.ID.String(), nil), 204, nil)
	o.admin.refused("one that never was", o.admin.ask("DELETE", "/api/invitations/"+uuid.NewString(), nil), 404, "link_not_found")
	if a := o.admin.ask("GET", "/api/invitations", nil); a.Body != "[]\n" {
		t.Errorf("open are %s", a.Body)
	}

	bob := o.join("bob@example.com", "")
	var account api.Account
	bob.want(bob.ask("GET", "/api/account", nil), 200, &account)
	o.admin.want(o.admin.ask("POST", "/api/people/"+account.Person.ID.String()+"/password-link", nil), 201, &made)
	if made.Kind != "password_reset" || !strings.HasPrefix(made.URL, o.url+"/link/") {
		t.Errorf("made %+v", made)
	}
}

func TestMembersByJSON(t *testing.T) {
	o := newOffice(t)
	bob := o.join("bob@example.com", "")
	var account api.Account
	bob.want(bob.ask("GET", "/api/account", nil), 200, &account)
	list := "/api/companies/" + o.company + "/members"
	path := list + "/" + account.Person.ID.String()
	bob.refused("before", bob.ask("GET", "/api/companies", nil), 403, "forbidden")
	var person api.Person
	o.admin.want(o.admin.ask("PUT", path, `{"role":"admin"}`), 200, &person)
	if len(person.Memberships) != 1 || person.Memberships[0].Role != "admin" {
		t.Errorf("the person is %+v", person)
	}
	bob.want(bob.ask("GET", "/api/companies/"+o.company+"/agents", nil), 200, nil)
	var members []api.Person
	o.admin.want(o.admin.ask("GET", list, nil), 200, &members)
	if len(members) != 1 || members[0].ID != person.ID {
		t.Errorf("the members are %+v", members)
	}
	for name, tc := range map[string]struct {
		path, body string
		status     int
		code       string
		fields     []string
	}{
		"a wrong role": {path, `{"role":"king"}`, 422, "validation_failed", []string{"role"}},
		"no role":      {path, `{}`, 422, "validation_failed", []string{"role"}},
		"null":         {path, `{"role":null}`, 400, "invalid_body", []string{"role"}},
		"nobody":       {list + "/" + uuid.NewString(), `{"role":"owner"}`, 404, "person_not_found", nil},
		"no company":   {"/api/companies/" + uuid.NewString() + "/members/" + person.ID.String(), `{"role":"owner"}`, 404, "company_not_found", nil},
	} {
		o.admin.refused(name, o.admin.ask("PUT", tc.path, tc.body), tc.status, tc.code, tc.fields...)
	}
	o.admin.want(o.admin.ask("DELETE", path, nil), 204, nil)
	o.admin.want(o.admin.ask("DELETE", path, nil), 204, nil)
	bob.refused("after", bob.ask("GET", "/api/companies/"+o.company+"/agents", nil), 403, "forbidden")
	if a := o.admin.ask("GET", list, nil); a.Body != "[]\n" {
		t.Errorf("the members are %s", a.Body)
	}
}
