package environment_test

import (
	"fmt"
	"strings"
	"testing"

	"berth/environment"
)

func TestC73_ReducedActivityNamesNoTarget(t *testing.T) {
	for _, kind := range []string{"environment", "environment_lease", "sandbox"} {
		a := environment.Activity{EntityType: kind, Details: map[string]any{"ok": true, "summary": "root@hidden is ready", "failureReason": "cannot reach hidden",
			"fingerprint": "hidden", "changes": map[string]any{"config.host": map[string]any{"after": "hidden"}}, "code": "timed_out"}}
		told := a.Reduced()
		if strings.Contains(fmt.Sprint(told.Details), "hidden") || told.Details["ok"] != true || told.Details["code"] != "timed_out" {
			t.Errorf("%s: %v", kind, told.Details)
		}
		if a.Details["summary"] == nil {
			t.Errorf("%s: the entry itself was changed", kind)
		}
	}
	lease := environment.Activity{EntityType: "environment_lease", Details: map[string]any{"failureReason": "interrupted"}}
	if lease.Reduced().Details["failureReason"] != "interrupted" {
		t.Error("a reason that is a code is left out")
	}
	orphan := environment.Activity{EntityType: "sandbox", EntityID: "c0ffee", Details: map[string]any{"provider": "docker", "leaseId": "x"}}
	if told := orphan.Reduced(); told.EntityID != "" || told.Details["provider"] != "docker" {
		t.Errorf("of a sandbox it is told %+v, without the provider's id", told)
	}
	secret := environment.Activity{EntityType: "secret", Details: map[string]any{"changes": "x"}}
	if secret.Reduced().Details["changes"] != "x" {
		t.Error("what is about no target is reduced")
	}
}
