package fake_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"berth/environment"
)

func TestConfigure(t *testing.T) {
	d := open(t.TempDir())
	good := `{"provider":"fake","image":"fake:2","script":{"start":"statusWords=starting,,ready delayMs=5"},"reuseLease":true,"retainSec":60,"startupTimeoutSec":900}`
	tests := []struct{ name, config, field, message string }{
		{"everything", good, "", ""},
		{"nothing but the provider", `{"provider":"fake"}`, "", ""},
		{"no provider", `{}`, "config.provider", ""},
		{"another provider", `{"provider":"docker"}`, "config.provider", ""},
		{"unknown key", `{"provider":"fake","x":1}`, "config.x", "no such setting"},
		{"wrong type", `{"provider":"fake","retainSec":"a"}`, "config.retainSec", "wrong type"},
		{"kept too short", `{"provider":"fake","retainSec":59}`, "config.retainSec", ""},
		{"kept too long", `{"provider":"fake","retainSec":2592001}`, "config.retainSec", ""},
		{"starts too slowly", `{"provider":"fake","startupTimeoutSec":901}`, "config.startupTimeoutSec", ""},
		{"no such policy", `{"provider":"fake","leasePolicy":"never"}`, "config.leasePolicy", ""},
		{"no such step", `{"provider":"fake","script":{"dance":"delayMs=1"}}`, "config.script", "there is no such step"},
		{"no such knob", `{"provider":"fake","script":{"exec":"jump"}}`, "config.script", "no knob"},
		{"a number out of range", `{"provider":"fake","script":{"exec":"delayMs=3600001"}}`, "config.script", "3600000"},
		{"no such lie", `{"provider":"fake","script":{"release.before":"lieReceipt=maybe"}}`, "config.script", "wrong-id"},
		{"a long image", `{"provider":"fake","image":"` + strings.Repeat("a", 513) + `"}`, "config.image", "512"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var in map[string]json.RawMessage
			if err := json.Unmarshal([]byte(tt.config), &in); err != nil {
				t.Fatal(err)
			}
			out, err := d.Configure(environment.ConfigInput{Config: in})
			if tt.field == "" {
				if err != nil || string(out.Config) != tt.config {
					t.Errorf("got %s, %v, want it as it is", out.Config, err)
				}
				return
			}
			e := environment.AsError(err)
			if e == nil || len(e.Fields) != 1 || e.Fields[0].Field != tt.field || !strings.Contains(e.Fields[0].Message, tt.message) {
				t.Errorf("got %v %+v, want %s: %s", err, e, tt.field, tt.message)
			}
		})
	}
	if got := d.StartupBudget([]byte(good)); got != 900*time.Second {
		t.Errorf("startup budget: got %s", got)
	}
	if got := d.Describe([]byte(good)); got != "fake sandbox of fake:2" {
		t.Errorf("described as %q", got)
	}
	if _, code, ok := d.Selected([]byte(good)); ok || code != environment.QualUnsupported {
		t.Errorf("selected: got %q, %v, want that it never qualifies", code, ok)
	}
}
