package views

import (
	"strings"
	"testing"

	"berth/environment"
	"berth/environment/example"

	"github.com/PuerkitoBio/goquery"
)

// The picker and the configuration tab say the worst that there is to know of what
// is stored.
func TestPickerTellsTheWorst(t *testing.T) {
	acme, globex := example.Acme(), example.Globex()
	full := Shelf{Working: &acme.ID, Companies: []CompanySecrets{{Company: acme, Secrets: example.Secrets()}}}
	elsewhere, nowhere := full, full
	elsewhere.Working, nowhere.Working = &globex.ID, nil
	owned := example.SecretReferences()["config.privateKey"]
	latest, pinned := example.SharedReference(example.Secrets()[0], "latest"), example.SharedReference(example.Secrets()[0], "2")
	disabled, gone := example.SharedReference(example.Secrets()[2], "1"), environment.SecretReference{Ref: latest.Ref}
	for name, tc := range map[string]struct {
		ref   *environment.SecretReference
		shelf Shelf
		want  SecretPickerState
		text  string // on the configuration tab
	}{
		"nothing":                   {nil, full, PickerNone, ""},
		"nothing, no secrets":       {nil, Shelf{Companies: []CompanySecrets{{Company: acme}}}, PickerEmpty, ""},
		"may not":                   {&latest, Shelf{}, PickerRestricted, "Acme Robotics · deploy-key · latest, version 3"},
		"owned":                     {&owned, elsewhere, PickerOwned, "stored"},
		"the latest":                {&latest, full, PickerShared, "Acme Robotics · deploy-key · latest, version 3"},
		"one version":               {&pinned, full, PickerPinned, "Acme Robotics · deploy-key · pinned to version 2 of 3"},
		"of another company":        {&pinned, elsewhere, PickerOtherCompany, "Acme Robotics · deploy-key · pinned to version 2 of 3"},
		"no company in particular":  {&latest, nowhere, PickerShared, "Acme Robotics · deploy-key · latest, version 3"},
		"disabled, of another":      {&disabled, elsewhere, PickerDisabled, "disabled: Acme Robotics · old-registry · pinned to version 1 of 2"},
		"gone":                      {&gone, full, PickerMissing, "missing: the secret that it refers to is gone"},
		"gone, seen from elsewhere": {&gone, elsewhere, PickerMissing, "missing: the secret that it refers to is gone"},
	} {
		p := NewSecretPicker(SecretField{Name: "config.password", Stored: tc.ref}, tc.shelf)
		if p.state != tc.want {
			t.Errorf("%s: the picker is %s, want %s", name, p.state, tc.want)
		}
		if tc.ref == nil {
			continue
		}
		if got := storedText("stored", *tc.ref); got != tc.text {
			t.Errorf("%s: the tab says %q, want %q", name, got, tc.text)
		}
	}
}

func TestChoiceBecomesAReference(t *testing.T) {
	id := example.Secrets()[0].ID.String()
	for name, tc := range map[string]struct {
		choice  SecretChoice
		version string
		wrong   bool
	}{
		"the latest":     {SecretChoice{SecretID: id}, "latest", false},
		"by its name":    {SecretChoice{SecretID: id, Version: "latest"}, "latest", false},
		"a number":       {SecretChoice{SecretID: id, Version: " 12 "}, "12", false},
		"zeros before":   {SecretChoice{SecretID: id, Version: "007"}, "7", false},
		"none":           {SecretChoice{}, "", true},
		"no id":          {SecretChoice{SecretID: "x"}, "", true},
		"version 0":      {SecretChoice{SecretID: id, Version: "0"}, "", true},
		"a negative one": {SecretChoice{SecretID: id, Version: "-1"}, "", true},
		"no number":      {SecretChoice{SecretID: id, Version: "newest"}, "", true},
	} {
		ref, problem := tc.choice.ref()
		if (problem != "") != tc.wrong || !tc.wrong && (ref.Version != tc.version || ref.SecretID.String() != id) {
			t.Errorf("%s: %+v, %q", name, ref, problem)
		}
	}
}

func TestChangesAreInAFixedOrder(t *testing.T) {
	details := map[string]any{"name": "x", "revision": 3, "changes": map[string]any{"b": "changed", "a": map[string]any{"before": 1, "after": nil}}, "took": 5, "none": nil}
	got := changesOf(details)
	if len(got) != 2 || got[0] != (change{field: "a", before: "1", after: "none"}) || got[1] != (change{field: "b", word: "changed"}) {
		t.Errorf("changes %+v", got)
	}
	if text := detailText(environment.Activity{Details: details}); text != "took: 5" {
		t.Errorf("details %q", text)
	}
}

// A form of many variables and many secrets stays small: rows that have a value
// offer no secrets then, but for those that hold one.
func TestManySecretsAreNotOfferedInEveryRow(t *testing.T) {
	acme := example.Acme()
	many := make([]environment.StoredSecret, environment.MaxCompanySecrets)
	for i := range many {
		many[i] = example.Secrets()[i%3]
	}
	v := NewFormValues()
	for i := range 150 {
		v.Vars = append(v.Vars, VarValue{Name: VarField(i, "x"), Value: environment.NewSecret("x")})
	}
	v.Vars[7].Kind, v.Vars[7].SecretID = VarChosen, many[0].ID.String()
	p := NewEnvironmentForm(Form{Values: v, Capabilities: example.Capabilities(), MayManage: true,
		Shelf: Shelf{Companies: []CompanySecrets{{Company: acme, Secrets: many}}}}, example.Now())
	offering := 0
	for _, row := range p.varRows() {
		if row.offers() {
			offering++
		}
	}
	if offering != 1+spareRows {
		t.Errorf("%d rows offer secrets, want the one that holds one and %d spare ones", offering, spareRows)
	}
}

// What is wrong with a choice is said at the part that is wrong, where the cursor
// goes.
func TestPickerMarksThePartThatIsWrong(t *testing.T) {
	acme := example.Acme()
	full := Shelf{Working: &acme.ID, Companies: []CompanySecrets{{Company: acme, Secrets: example.Secrets()}}}
	id, typed := acme.ID.String(), environment.NewSecret("typed")
	for name, tc := range map[string]struct {
		choice SecretChoice
		bad    string
	}{
		"a pasted value":     {SecretChoice{Source: SourcePaste, Value: typed}, "config.password"},
		"nothing chosen":     {SecretChoice{Source: SourceChoose}, "config.password.secret"},
		"a secret refused":   {SecretChoice{Source: SourceChoose, SecretID: example.Secrets()[0].ID.String(), Version: "latest"}, "config.password.secret"},
		"a version refused":  {SecretChoice{Source: SourceChoose, SecretID: example.Secrets()[0].ID.String(), Version: "7"}, "config.password.version"},
		"no company":         {SecretChoice{Source: SourceCreate, Title: "x", Value: typed}, "config.password.company"},
		"no name":            {SecretChoice{Source: SourceCreate, CompanyID: id, Title: " ", Value: typed}, "config.password.title"},
		"no value":           {SecretChoice{Source: SourceCreate, CompanyID: id, Title: "x"}, "config.password.new"},
		"too long a value":   {SecretChoice{Source: SourceCreate, CompanyID: id, Title: "x", Value: environment.NewSecret(strings.Repeat("x", environment.MaxSecret+1))}, "config.password.new"},
		"a name that is had": {SecretChoice{Source: SourceCreate, CompanyID: id, Title: "x", Sealed: "sealed"}, "config.password.title"},
	} {
		var b strings.Builder
		if err := SecretPicker(NewSecretPicker(SecretField{Name: "config.password", Choice: tc.choice, Error: "No.", Focus: true}, full)).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		bad := doc.Find("[aria-invalid]")
		if got, _ := bad.Attr("name"); got != tc.bad || bad.Length() != 1 {
			t.Errorf("%s: marked is %q (%d of them), want %q", name, got, bad.Length(), tc.bad)
		}
		if at, _ := doc.Find("[autofocus]").Attr("name"); at != tc.bad {
			t.Errorf("%s: the cursor is at %q", name, at)
		}
	}
}
