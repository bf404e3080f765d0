package handlers

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"berth/environment"
	"berth/environment/leasing"
	"berth/handlers/api"
	"berth/views"
)

func (f *flaky) Leases(ctx context.Context, filter leasing.Filter) (environment.Page[environment.Lease], error) {
	if f.noLeases.Load() {
		return environment.Page[environment.Lease]{}, environment.Unavailable("database_unavailable", "The database does not answer.")
	}
	return f.Store.Leases(ctx, filter)
}

// TestLeasesPage: a kept sandbox is destroyed through its dialog, and one whose end
// is not confirmed is tried again from its row.
func TestLeasesPage(t *testing.T) {
	f := newFront(t)
	f.stays = true
	if doc := f.page(f.want(f.call("GET", views.LeasesPath, ""), 200, nil)); state(doc, "#leases") != "none" || state(doc, "#leases-page") != "shown" {
		t.Errorf("an empty list is %s", state(doc, "#leases"))
	}
	kept, other := f.keep("a"), f.keep("b")
	doc := f.page(f.want(f.call("GET", views.LeasesPath+"?status=retained", ""), 200, nil))
	if state(doc, "#lease-"+kept.ID.String()) != "retained" || doc.Find("#rows > li").Length() != 2 {
		t.Errorf("the list: %s", doc.Find("#leases").Text())
	}
	if text := f.want(f.call("GET", views.LeasesPath+"?status=retained&ids=1", ""), 200, nil).Body; len(strings.Fields(text)) != 2 || !strings.Contains(text, kept.ID.String()) {
		t.Errorf("the ids of the list are %q", text)
	}
	path := views.LeasePath(kept.ID)
	if doc = f.page(f.want(f.call("GET", path+"/destroy", "", byHTMX), 200, nil)); state(doc, "#lease-destroy") != "ready" || doc.Find("main").Length() != 0 {
		t.Errorf("the dialog is %s", state(doc, "#lease-destroy"))
	}
	if to := f.want(f.post(path+"/destroy", nil, byHTMX), 204, nil).Header.Get("HX-Redirect"); to != views.LeasesPath+"?done=lease-destroyed" {
		t.Errorf("sent on to %q", to)
	}
	if now, _ := f.sandbox.held(); now != 1 {
		t.Errorf("%d sandboxes are left, want the other", now)
	}
	if doc = f.page(f.want(f.call("GET", path+"/destroy", ""), 200, nil)); state(doc, "#lease-destroy") != "over" || doc.Find("#lease-destroy button").Length() != 0 {
		t.Errorf("afterwards the dialog is %s", state(doc, "#lease-destroy"))
	}
	path = views.LeasePath(other.ID)
	f.sandbox.refuse(environment.CodeEngineUnreachable)
	if to := f.want(f.post(path+"/destroy", nil), 303, nil).Header.Get("Location"); to != views.LeasesPath+"?done=cleanup-goes-on" {
		t.Errorf("not confirmed, sent on to %q", to)
	}
	doc = f.page(f.want(f.call("GET", views.LeasesPath+"?held=1", "", byHTMX), 200, nil))
	row := doc.Find("#lease-" + other.ID.String())
	if row.AttrOr("data-state", "") != "pending_cleanup" || !strings.Contains(row.Text(), "engine unreachable") || row.Find("form[action$=retry-cleanup]").Length() != 1 {
		t.Errorf("the row says %q", row.Text())
	}
	f.sandbox.refuse("")
	if doc = f.page(f.want(f.post(path+"/retry-cleanup", nil, byHTMX), 200, nil)); doc.Find("#lease-"+other.ID.String()).AttrOr("data-state", "") == "pending_cleanup" {
		t.Error("it was not tried again")
	}
}

// TestLeasesPageLooksAgain: a look brings the rows that show something else by now,
// and no other.
func TestLeasesPageLooksAgain(t *testing.T) {
	f := newFront(t)
	kept, other := f.keep("a"), f.keep("b")
	doc := f.page(f.want(f.call("GET", views.LeasesPath, ""), 200, nil))
	look := url.Values{}
	for _, l := range []string{kept.ID.String(), other.ID.String()} {
		look.Add("watch", doc.Find("#lease-"+l+" [name=watch]").AttrOr("value", ""))
	}
	if a := f.want(f.call("GET", views.LeasesPath+"?"+look.Encode(), "", byHTMX), 200, nil); strings.TrimSpace(a.Body) != "" {
		t.Errorf("nothing has changed, and it brings %s", a.Body)
	}
	f.want(f.call("POST", "/api/environment-leases/"+kept.ID.String()+"/destroy", "{}"), 200, nil)
	doc = f.page(f.want(f.call("GET", views.LeasesPath+"?"+look.Encode(), "", byHTMX), 200, nil))
	if doc.Find("li[hx-swap-oob]").Length() != 1 || doc.Find("#lease-"+kept.ID.String()).Length() != 1 {
		t.Errorf("it brings %d rows", doc.Find("li").Length())
	}
	f.want(f.call("GET", views.LeasesPath+"?watch=x", "", byHTMX), 400, nil)
	f.want(f.call("GET", views.LeasesPath+"?status=gone", ""), 400, nil)
}

// TestLeaseInUseSaysWhy: its run is named beside the control that cannot be used,
// and a request made by hand is refused.
func TestLeaseInUseSaysWhy(t *testing.T) {
	f := newFront(t)
	env := f.createSandbox("box", pinned, "")
	run := f.startRun(env.ID.String(), "")
	var id string
	eventually(t, "the run to hold its lease", func() bool {
		all := f.leases("?status=active")
		if len(all) == 1 {
			id = all[0].ID.String()
		}
		return len(all) == 1
	})
	row := f.page(f.want(f.call("GET", views.TabPath(env.ID, views.TabLeases), ""), 200, nil)).Find("#lease-" + id)
	if row.Find("button[disabled]").Length() != 1 || row.Find(".reason a").AttrOr("href", "") != views.RunPath(f.company, run.ID) {
		t.Errorf("the row: %s", row.Text())
	}
	if doc := f.page(f.want(f.post(views.LeasesPath+"/"+id+"/destroy", nil, byHTMX), 422, nil)); state(doc, "#lease-destroy") != "refused" {
		t.Errorf("the dialog is %s", state(doc, "#lease-destroy"))
	}
	f.want(f.post(views.LeasesPath+"/"+id+"/release", nil, byHTMX), 409, nil)
	f.sandbox.open()
	f.ended(run)
}

// TestLeasesPageOfAMember: of the own company, reduced, and nothing can be done.
func TestLeasesPageOfAMember(t *testing.T) {
	h := newHouse(t, "member")
	a := h.ask("member", "GET", views.LeasesPath, "")
	if a.Status != 200 || strings.Contains(a.Body, "zebra") || strings.Contains(a.Body, "/destroy") || !strings.Contains(a.Body, `data-state="restricted"`) {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if a := h.ask("foreign member", "GET", views.LeasesPath, ""); a.Status != 200 || strings.Contains(a.Body, h.ids["lease"]) || strings.Contains(a.Body, h.ids["sandbox lease"]) {
		t.Errorf("another company's: %d %s", a.Status, a.Body)
	}
}

// TestQualificationPages: a tag is told, pinned with one click, and tested again.
func TestQualificationPages(t *testing.T) {
	f := newFront(t)
	f.stays = true
	env := f.createSandbox("box", "registry.test:5000/team/app:1", "")
	image := views.TabPath(env.ID, views.TabImage)
	if doc := f.page(f.want(f.call("GET", image, ""), 200, nil)); state(doc, "#qualification") != "absent" || doc.Find("form[action$=pin-image]").Length() != 0 {
		t.Errorf("before a test it is %s", state(doc, "#qualification"))
	}
	f.want(f.post(views.PinPath(env.ID), url.Values{"revision": {"1"}}), 409, nil)
	f.testSandbox(env.ID, "")
	doc := f.page(f.want(f.call("GET", views.EnvironmentPath(env.ID), ""), 200, nil))
	if state(doc, "#qualification-notice") != "absent" || doc.Find("#probe-qualification").AttrOr("data-code", "") != environment.QualMutableImage {
		t.Errorf("after it: %s, %s", state(doc, "#qualification-notice"), doc.Find("#probe-qualification").Text())
	}
	revision := doc.Find("#qualification-notice [name=revision]").AttrOr("value", "")
	f.want(f.post(views.PinPath(env.ID), url.Values{"revision": {"7"}}), 412, nil)
	if to := f.want(f.post(views.PinPath(env.ID), url.Values{"revision": {revision}}), 303, nil).Header.Get("Location"); to != image+"&done=pinned" {
		t.Errorf("sent on to %q", to)
	}
	if doc = f.page(f.want(f.call("GET", image, ""), 200, nil)); !strings.Contains(doc.Find("#image").Text(), scriptedDigest) || doc.Find("#test-start #begin-test").Length() != 1 {
		t.Errorf("pinned: %s", doc.Find("#image").Text())
	}
	f.testSandbox(env.ID, "")
	if doc = f.page(f.want(f.call("GET", image, ""), 200, nil)); state(doc, "#qualification") != "recorded" || !strings.Contains(doc.Find("#qualification").Text(), "glibc 2.36") {
		t.Errorf("tested again it is %s: %s", state(doc, "#qualification"), doc.Find("#qualification").Text())
	}
	f.want(f.call("PATCH", "/api/environments/"+env.ID.String(), `{"config":{"image":"registry.test:5000/team/app:2"}}`), 200, nil)
	if doc = f.page(f.want(f.call("GET", image, ""), 200, nil)); state(doc, "#qualification") != "revoked" || !strings.Contains(doc.Find("#qualification").Text(), "its image was changed") {
		t.Errorf("edited it is %s: %s", state(doc, "#qualification"), doc.Find("#qualification").Text())
	}
	f.want(f.call("GET", image+"&company="+unknownID(), ""), 404, nil)
}

// TestLeasesPageWhileTheDatabaseIsAway: the page says so in the list's place.
func TestLeasesPageWhileTheDatabaseIsAway(t *testing.T) {
	f := newFront(t)
	f.store.noLeases.Store(true)
	doc := f.page(f.want(f.call("GET", views.LeasesPath, "", byHTMX), 200, nil))
	if state(doc, "#leases") != "error" || !strings.Contains(doc.Find("#leases").Text(), "could not be read") {
		t.Errorf("the list is %s", state(doc, "#leases"))
	}
	f.store.noLeases.Store(false)
	if doc = f.page(f.want(f.call("GET", views.LeasesPath, "", byHTMX), 200, nil)); state(doc, "#leases") != "none" {
		t.Errorf("afterwards it is %s", state(doc, "#leases"))
	}
}

// TestLeaseDestroyed_slow: the page does not wait for a provider that takes its time,
// and says that it goes on.
func TestLeaseDestroyed_slow(t *testing.T) {
	f := newFront(t)
	kept := f.keep("a")
	goOn := f.sandbox.slow()
	defer goOn()
	page := f.page(f.want(f.post(views.LeasesPath+"/"+kept.ID.String()+"/destroy", nil), 200, nil)) // after the redirect
	if row := page.Find("#lease-" + kept.ID.String()); row.AttrOr("data-state", "") != "releasing" || !strings.Contains(page.Text(), "confirmed") {
		t.Errorf("the row is %s: %s", row.AttrOr("data-state", ""), page.Text())
	}
	goOn()
	var l api.Lease
	eventually(t, "the lease to end", func() bool {
		f.want(f.call("GET", "/api/environment-leases/"+kept.ID.String(), ""), 200, &l)
		return environment.LeaseStatus(l.Status).Ended()
	})
}
