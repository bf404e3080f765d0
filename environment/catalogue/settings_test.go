package catalogue_test

import (
	"slices"
	"testing"

	"berth/environment"
)

func TestUpdateSettings(t *testing.T) {
	archivedID, nobody := environment.NewID(), environment.NewID()
	for name, tc := range map[string]struct {
		patch environment.SettingsPatch
		code  string // "": goes through
		field string
	}{
		"flags":            {environment.SettingsPatch{EnableEnvironments: new(true), EnableManagedSandboxOnly: new(true)}, "", ""},
		"one second":       {environment.SettingsPatch{MaxRunTimeout: new(1)}, "", ""},
		"a day":            {environment.SettingsPatch{MaxRunTimeout: new(86400)}, "", ""},
		"no time":          {environment.SettingsPatch{MaxRunTimeout: new(0)}, "validation_failed", "maxRunTimeoutSec"},
		"more than a day":  {environment.SettingsPatch{MaxRunTimeout: new(86401)}, "validation_failed", "maxRunTimeoutSec"},
		"no default":       {environment.SettingsPatch{ClearDefault: true}, "", ""},
		"default and none": {environment.SettingsPatch{ClearDefault: true, DefaultEnvironmentID: &nobody}, "validation_failed", "defaultEnvironmentId"},
		"no such default":  {environment.SettingsPatch{DefaultEnvironmentID: &nobody}, environment.CodeEnvironmentNotFound, "defaultEnvironmentId"},
		"archived default": {environment.SettingsPatch{DefaultEnvironmentID: &archivedID}, environment.CodeEnvironmentInactive, "defaultEnvironmentId"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			d := sshDraft("Old")
			d.Status = environment.StatusArchived
			if tc.patch.DefaultEnvironmentID == &archivedID {
				archivedID = b.create(d).ID
			}
			got, err := b.UpdateSettings(t.Context(), b.actor, tc.patch)
			if tc.code != "" {
				if e := refusal(t, err, environment.KindInvalid, tc.code); fields(e) != tc.field {
					t.Errorf("wrong at %q, want %q", fields(e), tc.field)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if now, err := b.Settings(t.Context(), b.actor); err != nil || now != got {
				t.Errorf("stored %+v, returned %+v, %v", now, got, err)
			}
		})
	}
}

func TestSettingsActivity(t *testing.T) {
	b := newBench(t)
	before, err := b.UpdateSettings(t.Context(), b.actor, environment.SettingsPatch{EnableEnvironments: new(false), MaxRunTimeout: new(60)})
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.UpdateSettings(t.Context(), b.actor, environment.SettingsPatch{EnableEnvironments: new(false), MaxRunTimeout: new(60)})
	if err != nil || again.Revision != before.Revision {
		t.Errorf("the same settings again: revision %d after %d, %v", again.Revision, before.Revision, err)
	}
	page, err := b.Activity(t.Context(), b.actor, environment.ActivityFilter{EntityType: "instance"})
	if err != nil || len(page.Items) != 1 {
		t.Fatal(page.Items, err)
	}
	changed, _ := page.Items[0].Details["changedFields"].([]string)
	if page.Items[0].Action != "instance.settings.updated" || !slices.Equal(changed, []string{"enableEnvironments", "maxRunTimeoutSec"}) {
		t.Errorf("activity %+v", page.Items[0])
	}
}
