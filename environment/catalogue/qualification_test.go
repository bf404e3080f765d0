package catalogue_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"berth/environment"

	"github.com/google/uuid"
)

func TestAdmissionLooksAtWhatIsSaved(t *testing.T) {
	b := withDocker(t)
	acme, other := b.company("Acme"), b.company("Other")
	env := b.create(dockerDraft("S"))
	if a := b.admission(env, acme); a.State != environment.QualificationAbsent || !a.Required || a.Allowed || a.Code != environment.CodeQualificationMissing {
		t.Errorf("without a record it is %+v", a)
	}
	b.qualify(env, acme)
	if a := b.admission(env, acme); !a.Allowed || a.Identity == nil || a.Identity.Digest == "" {
		t.Errorf("with a record it is %+v", a)
	}
	if a := b.admission(env, other); a.State != environment.QualificationAbsent {
		t.Errorf("another company's is %+v", a)
	}
	if a := b.admission(b.local, acme); a.State != environment.QualificationNotRequired || !a.Allowed {
		t.Errorf("Local is %+v", a)
	}
}

// What an edit does to a qualification; nothing that is edited back brings it back.
func TestRevocations(t *testing.T) {
	pinned := "registry.test:5000/team/app:1@sha256:" + strings.Repeat("b", 64)
	for name, c := range map[string]struct {
		with   []any // beside the draft's own
		patch  environment.Patch
		back   environment.Patch
		reason string
	}{
		"name":               {nil, environment.Patch{Name: new("T")}, environment.Patch{Name: new("S")}, ""},
		"description":        {nil, environment.Patch{SetDescription: true, Description: new("d")}, environment.Patch{SetDescription: true}, ""},
		"variables":          {nil, environment.Patch{EnvVars: vars("A", plain("b"))}, environment.Patch{EnvVars: vars("A", environment.EnvVarDraft{Remove: true})}, ""},
		"status":             {nil, environment.Patch{Status: new(environment.StatusMaintenance)}, environment.Patch{Status: new(environment.StatusActive)}, ""},
		"budget":             {nil, environment.Patch{Budget: &environment.Budget{MaxLeases: 1}}, environment.Patch{ClearBudget: true}, ""},
		"metadata":           {nil, environment.Patch{Metadata: json.RawMessage(`{"a":1}`)}, environment.Patch{Metadata: json.RawMessage("null")}, ""},
		"runtime":            {nil, patch("cpus", 2, "reuseLease", true, "labels", map[string]string{"a": "b"}), patch("cpus", nil, "reuseLease", nil, "labels", nil), ""},
		"the default said":   {nil, patch("network", "bridge"), patch("network", nil), ""},
		"the image, spelled": {[]any{"image", "app"}, patch("image", "docker.io/library/app:latest"), patch("image", "app"), ""},
		"a pinned one's tag": {[]any{"image", pinned}, patch("image", strings.Replace(pinned, ":1@", ":2@", 1)), patch("image", pinned), ""},
		"image":              {nil, patch("image", "registry.test:5000/team/app:2"), patch("image", "registry.test:5000/team/app:1"), environment.RevokedImage},
		"pinning":            {nil, patch("image", pinned), patch("image", "registry.test:5000/team/app:1"), environment.RevokedImage},
		"platform":           {nil, patch("platform", "linux/arm64"), patch("platform", nil), environment.RevokedImage},
		"account":            {nil, patch("registryUsername", "u"), patch("registryUsername", nil), environment.RevokedAccount},
		"new secret":         {nil, patch("registryPassword", "canary"), patch("registryPassword", nil), environment.RevokedAccount},
		"another secret":     {[]any{"tlsKey", "canary-1"}, patch("tlsKey", "canary-2"), patch("tlsKey", "canary-1"), environment.RevokedAccount},
		"the same secret":    {[]any{"tlsKey", "canary-1"}, patch("tlsKey", "canary-1"), patch("tlsKey", ""), ""},
		"engine":             {nil, patch("engine", "tcp://other:2376"), patch("engine", ""), environment.RevokedTarget},
		"environment of it":  {nil, patch("env", map[string]string{"A": "b"}), patch("env", nil), environment.RevokedTarget},
		"image and engine":   {nil, patch("image", "b", "engine", "tcp://x:1"), patch("image", "registry.test:5000/team/app:1", "engine", ""), environment.RevokedTarget},
		"provider":           {nil, patch("provider", "plain"), patch("provider", "docker", "image", "registry.test:5000/team/app:1"), environment.RevokedDriver},
		"driver": {nil, environment.Patch{Driver: new("ssh"), Config: config("host", "x", "username", "y")},
			environment.Patch{Driver: new("sandbox"), Config: config("provider", "docker", "image", "registry.test:5000/team/app:1")}, environment.RevokedDriver},
	} {
		t.Run(name, func(t *testing.T) {
			b := withDocker(t)
			company := b.company("Acme")
			env := b.create(dockerDraft("S", c.with...))
			b.qualify(env, company)
			wanted := environment.QualificationRecorded
			if c.reason != "" {
				wanted = environment.QualificationStateRevoke
			}
			for _, p := range []environment.Patch{c.patch, c.back} {
				b.update(env, p)
				record, err := b.store.Qualification(t.Context(), env.ID, company)
				if err != nil {
					t.Fatal(err)
				}
				if record.RevokedFor != c.reason {
					t.Fatalf("revoked for %q, want %q", record.RevokedFor, c.reason)
				}
			}
			if a := b.admission(env, company); a.State != wanted || a.Allowed != (c.reason == "") {
				t.Errorf("edited back it is %+v", a)
			}
			if c.reason != "" {
				b.qualify(env, company) // a new test lifts it
			}
		})
	}
}

// A secret that gets a new value where it is makes the record unusable.
func TestASecretThatIsRotatedRevokes(t *testing.T) {
	b := withDocker(t)
	acme := b.company("Acme")
	id := b.shareIn(acme, "token", "canary-1")
	latest := b.create(dockerDraft("Latest", "registryPasswordSecretRef", at(id, "latest")))
	fixed := b.create(dockerDraft("Fixed", "registryPasswordSecretRef", at(id, "1")))
	b.qualify(latest, acme)
	b.qualify(fixed, acme)
	before := b.prints(latest)
	b.rotate(id, 2, "canary-2")
	after := b.prints(latest)
	if before.Qualification == after.Qualification || before.Reuse == after.Reuse {
		t.Error("a new value left a fingerprint as it was")
	}
	if a := b.admission(latest, acme); a.Allowed || a.State != environment.QualificationStateRevoke {
		t.Errorf("after a new value it is %+v", a)
	}
	if a := b.admission(fixed, acme); !a.Allowed {
		t.Errorf("one that asks for version 1 is %+v", a)
	}
}

func (b *bench) prints(env environment.Environment) environment.Fingerprints {
	b.t.Helper()
	p, err := b.Fingerprints(b.t.Context(), b.get(env).Environment)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// What only matters at run time never changes Qualification; any other setting
// does, and each changes Reuse. Variables change neither.
func TestFingerprintsOverRandomConfigs(t *testing.T) {
	b := withDocker(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	values := map[string]func() any{
		"image":            func() any { return fmt.Sprintf("app:%d", rnd.IntN(1e6)) },
		"platform":         func() any { return []string{"linux/amd64", "linux/arm64"}[rnd.IntN(2)] },
		"engine":           func() any { return fmt.Sprintf("tcp://h%d:1", rnd.IntN(1e6)) },
		"network":          func() any { return strings.Repeat("n", 1+rnd.IntN(50)) },
		"env":              func() any { return map[string]string{"A": fmt.Sprint(rnd.IntN(1e6))} },
		"registryUsername": func() any { return fmt.Sprint("u", rnd.IntN(1e6)) },
		"cpus":             func() any { return 1 + float64(rnd.IntN(630))/10 },
		"memoryMiB":        func() any { return 16 + rnd.IntN(1e6) },
		"reuseLease":       func() any { return true },
		"labels":           func() any { return map[string]string{"l": fmt.Sprint(rnd.IntN(1e6))} },
	}
	runtime := map[string]bool{"cpus": true, "memoryMiB": true, "reuseLease": true, "labels": true}
	names := []string{"image", "platform", "engine", "network", "env", "registryUsername", "cpus", "memoryMiB", "reuseLease", "labels"}
	env := b.create(dockerDraft("S"))
	seen := map[string]string{}
	for range 2000 {
		c := map[string]any{"provider": "docker", "image": "base"}
		for _, name := range names {
			if rnd.IntN(2) == 0 {
				c[name] = values[name]()
			}
		}
		one := env
		one.Config = marshal(t, c)
		key := names[rnd.IntN(len(names))]
		other := env
		changed := map[string]any{}
		for k, v := range c {
			changed[k] = v
		}
		if _, had := changed[key]; had && rnd.IntN(2) == 0 && key != "image" {
			delete(changed, key)
		} else {
			changed[key] = values[key]()
		}
		other.Config = marshal(t, changed)
		other.EnvVars = map[string]environment.EnvVar{"A": {Type: "plain", Value: fmt.Sprint(rnd.Int())}}
		x, y := b.printsOf(one), b.printsOf(other)
		same := string(one.Config) == string(other.Config)
		if (x.Reuse == y.Reuse) != same || (x.Qualification == y.Qualification) != (same || runtime[key]) {
			t.Fatalf("%s and %s differ in %s: %+v, %+v", one.Config, other.Config, key, x, y)
		}
		if text, known := seen[x.Reuse]; known && text != string(one.Config) {
			t.Fatalf("%s and %s have one fingerprint", text, one.Config)
		}
		seen[x.Reuse] = string(one.Config)
	}
}

func (b *bench) printsOf(env environment.Environment) environment.Fingerprints {
	b.t.Helper()
	p, err := b.Fingerprints(b.t.Context(), env)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func marshal(t *testing.T, v any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func patch(pairs ...any) environment.Patch { return environment.Patch{Config: config(pairs...)} }

func TestQualificationNotice(t *testing.T) {
	b := withDocker(t)
	company := b.company("Acme")
	env := b.create(dockerDraft("S"))
	notice := func() string {
		t.Helper()
		v, err := b.Qualification(t.Context(), b.actor, env.ID, company)
		if err != nil {
			t.Fatal(err)
		}
		text := string(marshal(t, v))
		if strings.Contains(text, "canary-container") || strings.Contains(text, strings.Repeat("a", 64)) {
			t.Errorf("the record shows in %s", text)
		}
		platform := "-"
		if v.Platform != nil && v.MeasuredAt != nil {
			platform = v.Platform.OS + "/" + v.Platform.Arch
		}
		last := "-"
		if v.Last != nil {
			last = v.Last.Code
		}
		return fmt.Sprint(v.Admission.State, " ", platform, " ", v.RevokedFor, " ", v.RevokedBy, " ", last)
	}
	if got := notice(); got != "absent -   -" {
		t.Errorf("at first: %s", got)
	}
	b.qualify(env, company)
	if got := notice(); got != "recorded linux/x64   recorded" {
		t.Errorf("qualified: %s", got)
	}
	b.update(env, patch("image", "b"))
	if got := notice(); got != "revoked linux/x64 image_changed local operator -" { // the test's word was of another image
		t.Errorf("edited: %s", got)
	}
	local := b.create(dockerDraft("Of the engine"))
	b.probed(local, company, &environment.ImageIdentity{Kind: environment.ImageLocal, ImageID: "sha256:" + strings.Repeat("b", 64)}, environment.QualificationChange{})
	if v, err := b.Qualification(t.Context(), b.actor, local.ID, company); err != nil || !v.Local || v.Pin != "" {
		t.Errorf("an image of the engine's own: %+v, %v", v, err)
	}
	member := environment.Actor{Kind: environment.ActorPerson, ID: environment.NewID(), Roles: map[uuid.UUID]environment.Role{company: environment.RoleOwner}}
	_, err := b.Qualification(t.Context(), member, env.ID, company)
	want(t, err, environment.KindForbidden, "forbidden")
	_, err = b.Qualification(t.Context(), b.actor, environment.NewID(), company)
	want(t, err, environment.KindNotFound, environment.CodeEnvironmentNotFound)
}

func TestPinImage(t *testing.T) {
	digest := "sha256:" + strings.Repeat("c", 64)
	found := environment.ImageIdentity{Kind: environment.ImageDigest, Reference: "registry.test:5000/team/app:1", Digest: digest}
	b := withDocker(t)
	company := b.company("Acme")
	env := b.create(dockerDraft("S"))
	_, err := b.PinImage(t.Context(), b.actor, env.ID, nil)
	want(t, err, environment.KindConflict, "nothing_to_pin")
	b.probed(env, company, &found, environment.QualificationChange{})
	_, err = b.PinImage(t.Context(), b.actor, env.ID, new(env.Revision+1))
	want(t, err, environment.KindStale, environment.CodeStaleRevision)
	view, err := b.PinImage(t.Context(), b.actor, env.ID, &env.Revision)
	if err != nil || keys(t, view.Environment)["image"] != "registry.test:5000/team/app:1@"+digest {
		t.Fatalf("pinned to %s, %v", view.Config, err)
	}
	if changed := texts(t, b.entries(env)[0]); changed != "config.image" {
		t.Errorf("the log says %s", changed)
	}
	_, err = b.PinImage(t.Context(), b.actor, env.ID, nil) // what was tested is another config
	want(t, err, environment.KindConflict, "nothing_to_pin")
	edited := b.create(dockerDraft("Edited since"))
	b.probed(edited, company, &found, environment.QualificationChange{})
	b.update(edited, patch("cpus", 2))
	_, err = b.PinImage(t.Context(), b.actor, edited.ID, nil)
	want(t, err, environment.KindConflict, "nothing_to_pin")
	for name, image := range map[string]*environment.ImageIdentity{
		"none": nil, "no digest": {Kind: environment.ImageLocal, ImageID: digest}, "of another reference": {Reference: "other", Digest: digest},
		"a digest that is none": {Reference: "registry.test:5000/team/app:1", Digest: "sha256:abc"},
	} {
		t.Run(name, func(t *testing.T) {
			one := b.create(dockerDraft(name))
			b.probed(one, company, image, environment.QualificationChange{})
			_, err := b.PinImage(t.Context(), b.actor, one.ID, nil)
			want(t, err, environment.KindConflict, "nothing_to_pin")
		})
	}
}

// What providers hold is asked every minute with the same secret: the note of who
// opened it is not crowded out by that.
func TestCleanupSpec_isNotedOnceAnHour(t *testing.T) {
	b := withDocker(t)
	env := b.create(dockerDraft("S", "tlsKey", "canary-1"))
	var config struct {
		Key environment.SecretRef `json:"tlsKeySecretRef"`
	}
	if err := json.Unmarshal(env.Config, &config); err != nil {
		t.Fatal(err)
	}
	noted := func() int {
		page, err := b.store.SecretAccesses(t.Context(), config.Key.SecretID, 0, "")
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Items)
	}
	before := noted()
	for range 4000 { // the bench's clock goes on by a second each
		if spec, err := b.CleanupSpec(t.Context(), &env.ID, nil, env.Driver, env.Config); err != nil || spec.Secrets["tlsKey"].Empty() {
			t.Fatalf("%+v, %v", spec, err)
		}
	}
	if n := noted() - before; n != 2 {
		t.Errorf("noted %d times in 4000 s, want 2", n)
	}
}

// A lease is cleaned up with the config that it was made with, after the row has
// another one, and after it is gone.
func TestCleanupSpec(t *testing.T) {
	b := withDocker(t)
	env := b.create(dockerDraft("S", "tlsKey", "canary-1"))
	spec, err := b.CleanupSpec(t.Context(), &env.ID, nil, env.Driver, env.Config)
	if err != nil || spec.Secrets["tlsKey"].Reveal() != "canary-1" || spec.EnvironmentID != env.ID || spec.Key().Provider != "docker" {
		t.Fatalf("%+v, %v", spec, err)
	}
	unknown := marshal(t, map[string]any{"provider": "docker", "tlsKeySecretRef": at(environment.NewID(), "latest")})
	spec, err = b.CleanupSpec(t.Context(), nil, nil, "sandbox", unknown)
	if err != nil || spec.SecretProblems["tlsKey"] != environment.CodeSecretMissing {
		t.Errorf("%+v, %v", spec.SecretProblems, err)
	}
	other := b.create(dockerDraft("T", "tlsKey", "canary-2"))
	spec, err = b.CleanupSpec(t.Context(), &env.ID, nil, "sandbox", other.Config)
	if err != nil || len(spec.Secrets) != 0 {
		t.Errorf("another environment's own secret opens: %v", err)
	}
}
