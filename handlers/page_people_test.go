package handlers

import (
	"net/url"
	"strings"
	"testing"

	"berth/environment"
	"berth/views"
)

func TestPeoplePages(t *testing.T) {
	f := newAuthFront(t)
	ada, ben := f.person("ada", true, ""), f.person("ben", false, environment.RoleMember)
	cookie := f.signIn(ada)
	invite := views.PeoplePath + "/invitations"
	role := views.RoleField(f.company)

	a := f.want(f.post(invite, url.Values{"email": {ben.Email}, role: {"admin"}}, cookie), 422, nil)
	doc := f.page(a)
	if kept, _ := doc.Find("#f-email").Attr("value"); state(doc, "#people") != "invalid" || kept != ben.Email || doc.Find("#f-email-err").Text() == "" ||
		doc.Find("option[selected][value=admin]").Length() != 1 {
		t.Errorf("state %q, the address is kept as %q, the error is %q", state(doc, "#people"), kept, doc.Find("#f-email-err").Text())
	}
	a = f.want(f.post(invite, url.Values{"email": {"eve@berth.test"}, role: {"member"}}, cookie), 201, nil)
	link := strings.TrimSpace(f.page(a).Find("#new-link .copy code").Text())
	if !strings.HasPrefix(link, "https://berth.example/link/berth_link_") || state(f.page(a), "#people") != "invited" {
		t.Fatalf("the link is %q in state %q", link, state(f.page(a), "#people"))
	}
	a = f.want(f.call("GET", views.PeoplePath, "", cookie), 200, nil)
	without(t, "the page", a.Body, link)
	without(t, "the log", f.log.String(), link)
	if text := f.page(a).Find("#invitations").Text(); !strings.Contains(text, "eve@berth.test") || !strings.Contains(text, "Member of Acme") {
		t.Errorf("the invitation reads %q", text)
	}

	person := views.PersonPath(ada.ID)
	a = f.want(f.post(person, url.Values{role: {"owner"}}, cookie), 422, nil)
	if s := state(f.page(a), "#person"); s != "refused" || !strings.Contains(a.Body, "last instance admin") {
		t.Errorf("the last admin's rights: state %q", s)
	}
	f.want(f.post(person, url.Values{"disabled": {"yes"}}, cookie), 422, nil)
	person = views.PersonPath(ben.ID)
	if a := f.stay("POST", person, url.Values{"instanceAdmin": {"on"}, role: {""}}.Encode(), asForm, cookie); a.Status != 303 {
		t.Fatalf("%d: %s", a.Status, a.Body)
	}
	now, err := f.server.Identity.Person(t.Context(), environment.LocalOperator(), ben.ID)
	if err != nil || !now.InstanceAdmin || len(now.Roles) != 0 {
		t.Errorf("ben is %+v, %v", now, err)
	}
	if a := f.stay("POST", views.PersonPath(ada.ID), url.Values{role: {""}}.Encode(), asForm, cookie); a.Header.Get("Location") != views.AccountPath {
		t.Errorf("who gives up their own rights goes to %q", a.Header.Get("Location"))
	}
}

// A member gets no answer but that they may not, and who may.
func TestPeoplePagesAreForInstanceAdmins(t *testing.T) {
	f := newAuthFront(t)
	ada, ben := f.person("ada", true, ""), f.person("ben", false, environment.RoleOwner)
	cookie := f.signIn(ben)
	for _, path := range []string{views.PeoplePath, views.PersonPath(ada.ID), views.PersonPath(environment.NewID()), views.AccessPath(f.company), views.AccessPath(environment.NewID())} {
		a := f.want(f.call("GET", path, "", cookie), 403, nil)
		doc := f.page(a)
		if state(doc, "#error") != "forbidden" || !strings.Contains(doc.Find("#error").Text(), "Ask an instance admin.") || strings.Contains(a.Body, ada.Email) {
			t.Errorf("%s: state %q, %q", path, state(doc, "#error"), doc.Find("#error").Text())
		}
		if doc.Find(".menu a[href='"+views.PeoplePath+"']").Length() != 0 {
			t.Errorf("%s: the navigation leads where a member may not go", path)
		}
	}
	for _, path := range []string{views.PeoplePath + "/invitations", views.PersonPath(ada.ID), views.PersonPath(ada.ID) + "/sign-out", views.PersonPath(ada.ID) + "/password-link", views.AccessPath(f.company)} {
		f.want(f.post(path, url.Values{"email": {"eve@berth.test"}, "disabled": {"yes"}, "person": {ben.ID.String()}, "role": {"owner"}}, cookie), 403, nil)
	}
}

func TestAccessPage(t *testing.T) {
	f := newAuthFront(t)
	ada, ben := f.person("ada", true, ""), f.person("ben", false, "")
	cookie, path := f.signIn(ada), views.AccessPath(f.company)
	if s := state(f.page(f.want(f.call("GET", path, "", cookie), 200, nil)), "#access"); s != "none" {
		t.Errorf("state %q, want none", s)
	}
	if a := f.stay("POST", path, url.Values{"person": {ben.ID.String()}, "role": {"admin"}}.Encode(), asForm, cookie); a.Status != 303 {
		t.Fatalf("%d: %s", a.Status, a.Body)
	}
	doc := f.page(f.want(f.call("GET", path, "", cookie), 200, nil))
	if chosen, _ := doc.Find(".member option[selected]").Attr("value"); chosen != "admin" {
		t.Errorf("ben is %q", chosen)
	}
	a := f.want(f.post(path, url.Values{"person": {ben.ID.String()}, "role": {"king"}}, cookie), 422, nil)
	if s := state(f.page(a), "#access"); s != "refused" {
		t.Errorf("state %q, want refused", s)
	}
	f.want(f.call("GET", views.AccessPath(environment.NewID()), "", cookie), 404, nil)
	f.want(f.post(path, url.Values{"person": {"ben"}, "role": {"admin"}}, cookie), 400, nil)
}

// A member sees the companies that they have a part in, and no form that would be
// refused.
func TestCompaniesPageOfAMember(t *testing.T) {
	f := newAuthFront(t)
	if _, err := f.server.Catalogue.CreateCompany(t.Context(), environment.LocalOperator(), "Globex"); err != nil {
		t.Fatal(err)
	}
	a := f.want(f.call("GET", views.CompaniesPath, "", f.signIn(f.person("ben", false, environment.RoleMember))), 200, nil)
	doc := f.page(a)
	if state(doc, "#companies") != "read-only" || doc.Find("main form").Length() != 0 || !strings.Contains(a.Body, "Acme") || strings.Contains(a.Body, "Globex") {
		t.Errorf("state %q: %s", state(doc, "#companies"), doc.Find("main").Text())
	}
}
