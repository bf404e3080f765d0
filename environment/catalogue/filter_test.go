package catalogue_test

import (
	"testing"

	"berth/environment"
)

func TestListRefusesWhatCannotBe(t *testing.T) {
	b := newBench(t)
	for field, f := range map[string]environment.ListFilter{
		"status": {Status: "gone"}, "driver": {Driver: "teleport"}, "health": {Health: "fine"}, "sort": {Sort: "id; drop"}, "limit": {Limit: 1001},
	} {
		_, err := b.List(t.Context(), b.actor, f)
		if e := refusal(t, err, environment.KindUnreadable, "invalid_filter"); fields(e) != field {
			t.Errorf("wrong at %q, want %q", fields(e), field)
		}
	}
	if page, err := b.List(t.Context(), b.actor, environment.ListFilter{Limit: 1000, Sort: "name", Health: environment.HealthUntested}); err != nil || len(page.Items) != 1 {
		t.Errorf("%d rows, %v", len(page.Items), err)
	}
}

func TestManagedSandboxOnlyHidesLocal(t *testing.T) {
	b := newBench(t)
	b.create(sshDraft("Build box"))
	if _, err := b.UpdateSettings(t.Context(), b.actor, environment.SettingsPatch{EnableManagedSandboxOnly: new(true)}); err != nil {
		t.Fatal(err)
	}
	page, err := b.List(t.Context(), b.actor, environment.ListFilter{})
	if err != nil || len(page.Items) != 1 || page.Items[0].Driver != environment.DriverSSH {
		t.Errorf("shown %v, %v", page.Items, err)
	}
}
