package catalogue_test

import (
	"strings"
	"testing"

	"berth/environment"
)

func TestCompanies(t *testing.T) {
	b := newBench(t)
	none, err := b.CompanyFor(t.Context(), b.actor, nil, false)
	if none != nil || err != nil {
		t.Errorf("without companies: %v, %v", none, err)
	}
	_, err = b.CompanyFor(t.Context(), b.actor, nil, true)
	want(t, err, environment.KindInvalid, "company_required")

	acme, err := b.CreateCompany(t.Context(), b.actor, "  Acme  Corp ")
	if err != nil || acme.Name != "Acme Corp" {
		t.Fatal(acme, err)
	}
	if only, err := b.CompanyFor(t.Context(), b.actor, nil, true); err != nil || only.ID != acme.ID {
		t.Errorf("the only company: %v, %v", only, err)
	}
	_, err = b.CreateCompany(t.Context(), b.actor, "ACME CORP")
	if e := refusal(t, err, environment.KindConflict, environment.CodeNameTaken); fields(e) != "name" {
		t.Errorf("wrong at %q", fields(e))
	}
	for _, name := range []string{"", " ", strings.Repeat("x", 121)} {
		_, err = b.CreateCompany(t.Context(), b.actor, name)
		want(t, err, environment.KindInvalid, "validation_failed")
	}
	other, err := b.CreateCompany(t.Context(), b.actor, "Other")
	if err != nil {
		t.Fatal(err)
	}
	if c, err := b.CompanyFor(t.Context(), b.actor, nil, false); c != nil || err != nil {
		t.Errorf("of two: %v, %v", c, err)
	}
	_, err = b.CompanyFor(t.Context(), b.actor, nil, true)
	want(t, err, environment.KindInvalid, "company_required")
	if c, err := b.CompanyFor(t.Context(), b.actor, &other.ID, true); err != nil || c.ID != other.ID {
		t.Errorf("the given one: %v, %v", c, err)
	}
	nobody := environment.NewID()
	_, err = b.CompanyFor(t.Context(), b.actor, &nobody, false)
	want(t, err, environment.KindNotFound, "company_not_found")
	page, err := b.Activity(t.Context(), b.actor, environment.ActivityFilter{CompanyID: &acme.ID})
	if err != nil || len(page.Items) != 1 || page.Items[0].Action != "company.created" {
		t.Errorf("activity %v, %v", page.Items, err)
	}
}
