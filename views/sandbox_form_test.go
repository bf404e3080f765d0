package views

import (
	"encoding/json"
	"strings"
	"testing"

	"berth/environment"
	"berth/environment/example"
)

// A sandbox's form that is saved as it was loaded changes nothing: what is stored
// is sent again, and what is not set is sent as nothing.
func TestSandboxFormOfASavedEnvironmentSaysTheSame(t *testing.T) {
	saved := example.ReadySandbox()
	d := FormValuesOf(saved.Environment).WithFields(example.DockerFields(), saved.Config).Draft()
	var config map[string]json.RawMessage
	if err := json.Unmarshal(saved.Config, &config); err != nil {
		t.Fatal(err)
	}
	for key, value := range d.Config {
		stored := config[key]
		if stored == nil {
			stored = json.RawMessage("null")
		}
		if string(stored) != string(value) {
			t.Errorf("%s: %s, want what is stored: %s", key, value, stored)
		}
	}
	if len(d.Config) < len(config) || d.Config["registryPassword"] != nil {
		t.Errorf("sent: %v", d.Config)
	}
	if d.Budget == nil || *d.Budget != *saved.Budget || d.ClearBudget {
		t.Errorf("the budget is %+v", d.Budget)
	}
}

func TestSettingsBecomeWhatTheyAre(t *testing.T) {
	field := func(kind string) environment.ConfigField { return environment.ConfigField{Name: "x", Type: kind} }
	on := field("boolean")
	on.Default = json.RawMessage("true")
	union := environment.ConfigField{Name: "x", Type: "union", Variants: []environment.ConfigVariant{{Field: field("string")}, {Field: field("list")}}}
	for name, c := range map[string]struct {
		value ConfigValue
		want  string
	}{
		"text":                        {ConfigValue{Field: field("string"), Text: " a b "}, `"a b"`},
		"no text":                     {ConfigValue{Field: field("string"), Text: "  "}, `null`},
		"whole number":                {ConfigValue{Field: field("integer"), Text: " 12 "}, `12`},
		"no number":                   {ConfigValue{Field: field("integer"), Text: "12x"}, `"12x"`},
		"number":                      {ConfigValue{Field: field("number"), Text: "0.5"}, `0.5`},
		"a number of no JSON":         {ConfigValue{Field: field("number"), Text: "NaN"}, `"NaN"`},
		"a switch as by itself":       {ConfigValue{Field: field("boolean")}, `null`},
		"a switch that is on":         {ConfigValue{Field: field("boolean"), Text: "on"}, `true`},
		"a switch that was taken off": {ConfigValue{Field: on}, `false`},
		"a switch on by itself":       {ConfigValue{Field: on, Text: "on"}, `null`},
		"lines":                       {ConfigValue{Field: field("list"), Text: "a\n\n b \n"}, `["a","b"]`},
		"no lines":                    {ConfigValue{Field: field("list"), Text: "\n"}, `null`},
		"entries":                     {ConfigValue{Field: field("map"), Rows: []ConfigRow{{"b", ""}, {"a", " 1"}, {"", ""}}}, `{"a":" 1","b":""}`},
		"no entries":                  {ConfigValue{Field: field("map"), Rows: []ConfigRow{{}}}, `null`},
		"no shape":                    {ConfigValue{Field: union, Texts: []string{"a", "b"}}, `null`},
		"the second shape":            {ConfigValue{Field: union, Variant: 2, Texts: []string{"a", "b\nc"}}, `["b","c"]`},
	} {
		got, err := json.Marshal(c.value.draft())
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, want %s (%v)", name, got, c.want, err)
		}
		if c.value.isSet() != (c.want != "null") {
			t.Errorf("%s: set is %v", name, c.value.isSet())
		}
		if c.want == "null" || strings.HasPrefix(name, "no ") || name == "a number of no JSON" {
			continue
		}
		back := configValues([]environment.ConfigField{c.value.Field}, json.RawMessage(`{"x":`+c.want+`}`))[0]
		if again, _ := json.Marshal(back.draft()); string(again) != c.want {
			t.Errorf("%s: read again it is %s", name, again)
		}
	}
}

// Of the managed sandbox nothing but the variables is sent.
func TestManagedFormSendsItsVariablesOnly(t *testing.T) {
	saved := example.ManagedSandbox()
	p := FormValuesOf(saved.Environment).WithFields(example.DockerFields(), saved.Config).Patch()
	if p.Name != nil || p.Config != nil || p.Driver != nil || p.Budget != nil || p.ClearBudget || p.SetDescription || len(p.EnvVars) != 1 || !p.ReplaceEnvVars {
		t.Errorf("sent: %+v", p)
	}
}

func TestC40_ImagePartsKeepTagAndDigest(t *testing.T) {
	for text, want := range map[string]ImagePartsState{
		"": ImageNone, "Registry/App": ImageInvalid, "https://x/y": ImageInvalid, "busybox": ImageMutable, "registry.test:5000/team/app:1.2": ImageMutable,
		"registry.test:5000/team/app@" + example.Digest: ImagePinned, "registry.test:5000/team/app:1.2@" + example.Digest: ImagePinned, example.Digest: ImagePinned,
	} {
		p := NewImageParts(text)
		if p.state != want {
			t.Errorf("%q is %s, want %s", text, p.state, want)
		}
		var b strings.Builder
		if err := ImageParts(p, false).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), ":sha256:") {
			t.Errorf("%q: a digest became a tag: %s", text, b.String())
		}
		if strings.Contains(text, ":1.2@") && (p.parts[2].Value != "1.2" || p.parts[3].Value != example.Digest || p.parts[0].Value != "registry.test:5000") {
			t.Errorf("%q has the parts %v", text, p.parts)
		}
	}
}

// A provider that cannot be used says why and what to do, and is not chosen anew.
func TestProviderCardsSayWhatIsMissing(t *testing.T) {
	f := Form{Values: NewFormValues(), Capabilities: example.SandboxCapabilities()}
	f.Values.Driver, f.Values.Provider = environment.DriverSandbox, "daytona"
	cards := providerCards(f)
	if len(cards) != 3 || cards[0].state != ProviderSetupLimited || cards[0].disabled() {
		t.Fatalf("cards: %+v", cards)
	}
	if fake := cards[1]; fake.state != ProviderUnavailable || !fake.disabled() || !strings.Contains(fake.cannot, "--dev") {
		t.Errorf("the fake one: %+v", fake)
	}
	if gone := cards[2]; gone.state != ProviderUnavailable || gone.disabled() || !gone.chosen || !strings.Contains(gone.cannot, "daytona is not installed") || gone.name != "Daytona" {
		t.Errorf("one that is gone: %+v", gone)
	}
	if got := DefaultProvider(example.SandboxCapabilities()); got != environment.ProviderDocker {
		t.Errorf("a new form begins with %q", got)
	}
}
