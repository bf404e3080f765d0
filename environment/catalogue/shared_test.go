package catalogue_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"berth/environment"
	"berth/environment/secrets"

	"github.com/google/uuid"
)

func at(id uuid.UUID, version string) environment.SecretRef {
	return environment.SecretRef{Type: "secret_ref", SecretID: id, Version: version}
}

// bindingsOf are an environment's bindings, as "path version".
func (b *bench) bindingsOf(env environment.Environment) string {
	b.t.Helper()
	all, err := b.store.EnvironmentBindings(b.t.Context(), env.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	var texts []string
	for _, x := range all {
		texts = append(texts, x.ConfigPath+" "+x.Version)
	}
	return strings.Join(texts, ", ")
}

// rotate gives a company's secret another value.
func (b *bench) rotate(id uuid.UUID, version int, value string) {
	b.t.Helper()
	v := environment.SecretVersion{ID: environment.NewID(), SecretID: id, Version: version}
	v.Ciphertext = append(v.ID[:], flipped(value)...)
	if _, err := b.store.AddSecretVersion(b.t.Context(), v, environment.Activity{}); err != nil {
		b.t.Fatal(err)
	}
}

// flipped is how the twin's vault writes a value.
func flipped(value string) []byte {
	out := []byte(value)
	for i := range out {
		out[i] ^= 0x5a
	}
	return out
}

func TestSharedSecretsAreBoundAndOpenedByVersion(t *testing.T) {
	b := newBench(t)
	acme := b.company("Acme")
	id := b.shareIn(acme, "token", "canary-1")
	b.rotate(id, 2, "canary-2")
	d := sshDraft("Build box", "passwordSecretRef", at(id, "latest"))
	d.EnvVars = vars("PINNED", refTo(at(id, "1")))
	env := b.create(d)
	if got := b.bindingsOf(env); got != "config.password latest, envVars.PINNED 1" {
		t.Errorf("bindings %q", got)
	}
	spec, values, err := b.Spec(t.Context(), env, environment.SecretUse{Purpose: environment.ForRun, CompanyID: &acme})
	if err != nil || spec.Secrets["password"].Reveal() != "canary-2" || len(values) != 1 || values[0].Value.Reveal() != "canary-1" || !values[0].Masked {
		t.Errorf("problems %v, values %v, %v", spec.SecretProblems, values, err)
	}
	b.rotate(id, 3, "canary-3")
	if got := b.spec(env).Secrets["password"].Reveal(); got != "canary-3" {
		t.Errorf("the latest is %q", got)
	}
	next := b.update(env, environment.Patch{Name: new("Renamed")})
	if got := b.bindingsOf(next); got != "config.password latest, envVars.PINNED 1" {
		t.Errorf("bindings after a rename %q", got)
	}
	next = b.update(env, environment.Patch{Config: config("passwordSecretRef", at(id, "2")), EnvVars: vars("PINNED", environment.EnvVarDraft{Remove: true})})
	if got := b.bindingsOf(next); got != "config.password 2" {
		t.Errorf("bindings after an edit %q", got)
	}
	if _, err := b.store.UpdateSecret(t.Context(), id, secrets.Patch{Disabled: new(true)}, environment.Activity{}); err != nil {
		t.Fatal(err)
	}
	if code := b.spec(next).SecretProblems["password"]; code != environment.CodeSecretDisabled {
		t.Errorf("a disabled secret: %q", code)
	}
	// What was made with it can still be removed.
	spec, err = b.CleanupSpec(t.Context(), &next.ID, &acme, next.Driver, next.Config)
	if err != nil || spec.Secrets["password"].Reveal() != "canary-2" {
		t.Errorf("for cleanup: problems %v, %v", spec.SecretProblems, err)
	}
}

func TestReferencesThatLeadNowhere(t *testing.T) {
	b := newBench(t)
	id := b.share("canary-1")
	for name, ref := range map[string]environment.SecretRef{"an unknown id": environment.RefTo(environment.NewID()), "a version that is not there": at(id, "2")} {
		t.Run(name, func(t *testing.T) {
			d := sshDraft("Build box", "passwordSecretRef", ref)
			d.EnvVars = vars("A", refTo(ref))
			_, err := b.Create(t.Context(), b.actor, d)
			e := refusal(t, err, environment.KindInvalid, "validation_failed")
			if fields(e) != "config.passwordSecretRef envVars.A" || e.Fields[0].Message != "There is no such secret." {
				t.Errorf("wrong at %q: %v", fields(e), e.Fields)
			}
		})
	}
}

func TestOneCompanysSecretsOnly(t *testing.T) {
	b := newBench(t)
	acme, globex := b.company("Acme"), b.company("Globex")
	mine, theirs := b.shareIn(acme, "token", "canary-1"), b.shareIn(globex, "token", "canary-2")
	d := sshDraft("Build box", "passwordSecretRef", environment.RefTo(mine))
	d.EnvVars = vars("A", refTo(environment.RefTo(theirs)))
	_, err := b.Create(t.Context(), b.actor, d)
	if e := refusal(t, err, environment.KindInvalid, environment.CodeCompanyMismatch); fields(e) != "envVars.A" {
		t.Errorf("wrong at %q", fields(e))
	}
	d.EnvVars = nil
	env := b.create(d)
	// What is there stays right; what is new is wrong, whichever comes first by name.
	_, err = b.Update(t.Context(), b.actor, env.ID, nil, environment.Patch{Config: config("passphraseSecretRef", environment.RefTo(theirs))})
	if e := refusal(t, err, environment.KindInvalid, environment.CodeCompanyMismatch); fields(e) != "config.passphraseSecretRef" {
		t.Errorf("wrong at %q", fields(e))
	}
	_, err = b.Update(t.Context(), b.actor, env.ID, nil, environment.Patch{NewSecrets: map[string]environment.NewCompanySecret{
		"envVars.B": {CompanyID: globex, Name: "new", Value: environment.NewSecret("canary-3")}}})
	if e := refusal(t, err, environment.KindInvalid, environment.CodeCompanyMismatch); fields(e) != "newSecrets.envVars.B" {
		t.Errorf("wrong at %q", fields(e))
	}
	// All of another company at once is a move, and no mixture.
	if next := b.update(env, environment.Patch{Config: config("passwordSecretRef", environment.RefTo(theirs))}); b.bindingsOf(next) != "config.password latest" {
		t.Errorf("bindings %q", b.bindingsOf(next))
	}
}

func TestABoundEnvironmentServesItsCompanyOnly(t *testing.T) {
	b := newBench(t)
	acme, globex := b.company("Acme"), b.company("Globex")
	d := sshDraft("Build box", "passwordSecretRef", environment.RefTo(b.shareIn(acme, "token", "canary-1")), "privateKey", "canary-2")
	bound, own := b.create(d), b.create(sshDraft("Own", "password", "canary-3"))
	for _, c := range []struct {
		name    string
		env     environment.Environment
		company *uuid.UUID
		code    string
	}{
		{"its company", bound, &acme, ""}, {"another", bound, &globex, environment.CodeCompanyMismatch}, {"no company", bound, nil, ""},
		{"owned secrets serve every company", own, &globex, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := b.Serves(t.Context(), c.env, c.company); environment.CodeOf(err) != c.code {
				t.Errorf("serves: %v, want %q", err, c.code)
			}
			if whose, err := b.CompanyOf(t.Context(), c.env, c.company); c.company == nil && (err != nil || whose == nil || *whose != acme) {
				t.Errorf("whose it is: %v, %v; want the company that it is bound to", whose, err)
			}
			spec, _, err := b.Spec(t.Context(), c.env, environment.SecretUse{Purpose: environment.ForProbe, CompanyID: c.company})
			if err != nil || spec.SecretProblems["password"] != c.code || c.code == "" == spec.Secrets["password"].Empty() {
				t.Errorf("problems %v, %v", spec.SecretProblems, err)
			}
			if c.env.ID == bound.ID && spec.Secrets["privateKey"].Reveal() != "canary-2" {
				t.Error("the environment's own key is not opened")
			}
		})
	}
	_, err := b.DraftSpec(t.Context(), b.actor, &globex, &bound.ID, sshDraft("", "port", 2222))
	want(t, err, environment.KindConflict, environment.CodeCompanyMismatch)
	spec, err := b.DraftSpec(t.Context(), b.actor, nil, &bound.ID, sshDraft("", "port", 2222))
	if err != nil || spec.CompanyID == nil || *spec.CompanyID != acme || spec.Secrets["password"].Reveal() != "canary-1" {
		t.Errorf("a draft without a company: %v, %v, problems %v", spec.CompanyID, err, spec.SecretProblems)
	}
}

// inPlace asks for a company's secret.
func inPlace(company uuid.UUID, name, value string) environment.NewCompanySecret {
	return environment.NewCompanySecret{CompanyID: company, Name: name, Value: environment.NewSecret(value)}
}

func TestSecretsAreMadeInPlace(t *testing.T) {
	b := newBench(t)
	acme := b.company("Acme")
	d := sshDraft("Build box")
	d.NewSecrets = map[string]environment.NewCompanySecret{"config.password": inPlace(acme, " Login ", "canary-1"), "envVars.TOKEN": inPlace(acme, "token", "canary-2")}
	env := b.create(d)
	if got := b.bindingsOf(env); got != "config.password latest, envVars.TOKEN latest" {
		t.Fatalf("bindings %q", got)
	}
	spec, values, err := b.Spec(t.Context(), env, environment.SecretUse{Purpose: environment.ForRun, CompanyID: &acme})
	if err != nil || spec.Secrets["password"].Reveal() != "canary-1" || len(values) != 1 || values[0].Value.Reveal() != "canary-2" {
		t.Errorf("problems %v, values %v, %v", spec.SecretProblems, values, err)
	}
	page, err := b.store.Secrets(t.Context(), acme, "", 0, "")
	if err != nil || len(page.Items) != 2 || page.Items[0].Name != "Login" || page.Items[0].CreatedBy != b.actor.Name {
		t.Errorf("secrets %+v, %v", page.Items, err)
	}
	log, err := b.store.Activity(t.Context(), environment.ActivityFilter{CompanyID: &acme, Action: "secret."})
	if err != nil || len(log.Items) < 2 {
		t.Errorf("activity %+v, %v", log.Items, err)
	}
	next := b.update(env, environment.Patch{NewSecrets: map[string]environment.NewCompanySecret{"config.password": inPlace(acme, "second", "canary-3")}})
	if b.spec(next).Secrets["password"].Reveal() != "canary-3" || !b.stored(refOf(t, env, "password")) {
		t.Error("the second does not take the first one's place, or took it away")
	}
}

// TestRefusedSavesLeaveNothing: no secret, no binding, no row, no entry.
func TestRefusedSavesLeaveNothing(t *testing.T) {
	b := newBench(t)
	acme := b.company("Acme")
	b.shareIn(acme, "taken", "canary-0")
	b.create(sshDraft("Other"))
	env := b.create(sshDraft("Build box", "password", "canary-1"))
	old := refOf(t, env, "password")
	fresh := func(name, value string) map[string]environment.NewCompanySecret {
		return map[string]environment.NewCompanySecret{"config.privateKey": inPlace(acme, name, value)}
	}
	stale := env.Revision - 1
	for _, c := range []struct {
		name     string
		patch    environment.Patch
		revision *int
		code     string
		fields   string
	}{
		{"a name that is taken", environment.Patch{Name: new("other"), NewSecrets: fresh("new", "canary-2")}, nil, environment.CodeNameTaken, "name"},
		{"a stale revision", environment.Patch{NewSecrets: fresh("new", "canary-2")}, &stale, environment.CodeStaleRevision, ""},
		{"a wrong field", environment.Patch{Config: config("port", 0), NewSecrets: fresh("new", "canary-2")}, nil, "validation_failed", "config.port"},
		{"a secret's name that is taken", environment.Patch{NewSecrets: fresh("TAKEN", "canary-2")}, nil, environment.CodeNameTaken, "newSecrets.config.privateKey.name"},
		{"no name", environment.Patch{NewSecrets: fresh(" ", "canary-2")}, nil, "validation_failed", "newSecrets.config.privateKey.name"},
		{"no value", environment.Patch{NewSecrets: fresh("new", "")}, nil, "validation_failed", "newSecrets.config.privateKey.value"},
		{"a value one byte too long", environment.Patch{NewSecrets: fresh("new", strings.Repeat("x", environment.MaxSecret+1))}, nil, "validation_failed", "newSecrets.config.privateKey.value"},
		{"a path to nothing", environment.Patch{NewSecrets: map[string]environment.NewCompanySecret{"metadata.x": inPlace(acme, "new", "canary-2")}}, nil, "validation_failed", "newSecrets.metadata.x"},
		{"two of one name", environment.Patch{NewSecrets: map[string]environment.NewCompanySecret{
			"config.privateKey": inPlace(acme, "new", "canary-2"), "envVars.A": inPlace(acme, "NEW", "canary-3")}}, nil, "validation_failed", "newSecrets.envVars.A.name"},
		{"a company that is not there", environment.Patch{NewSecrets: map[string]environment.NewCompanySecret{
			"envVars.A": inPlace(environment.NewID(), "new", "canary-3")}}, nil, "company_not_found", ""},
	} {
		for _, create := range []bool{false, true} {
			if create && (c.revision != nil) {
				continue
			}
			t.Run(fmt.Sprintf("%s, create %t", c.name, create), func(t *testing.T) {
				var err error
				if create {
					d := sshDraft("Third")
					if c.patch.Name != nil {
						d.Name = *c.patch.Name
					}
					for key, v := range c.patch.Config {
						d.Config[key] = v
					}
					d.NewSecrets = c.patch.NewSecrets
					_, err = b.Create(t.Context(), b.actor, d)
				} else {
					_, err = b.Update(t.Context(), b.actor, env.ID, c.revision, c.patch)
				}
				e := environment.AsError(err)
				if e == nil || e.Code != c.code || fields(e) != c.fields {
					t.Fatalf("got %v, want %s at %q", err, c.code, c.fields)
				}
				page, err := b.store.Secrets(t.Context(), acme, "", 0, "")
				if err != nil || len(page.Items) != 1 {
					t.Errorf("secrets of the company: %+v, %v; want the one of before", page.Items, err)
				}
				if v := b.get(env); v.Revision != env.Revision || b.bindingsOf(env) != "" || !b.stored(old) || len(b.entries(env)) != 1 {
					t.Error("the refused save left something, or took something along")
				}
				log, err := b.store.Activity(t.Context(), environment.ActivityFilter{EntityType: "secret"})
				if err != nil || len(log.Items) != 0 {
					t.Errorf("activity of secrets: %+v, %v", log.Items, err)
				}
			})
		}
	}
}

func TestADraftOpensWhatItWouldStore(t *testing.T) {
	b := newBench(t)
	acme := b.company("Acme")
	d := sshDraft("", "passwordSecretRef", environment.RefTo(b.shareIn(acme, "token", "canary-1")))
	d.NewSecrets = map[string]environment.NewCompanySecret{"config.privateKey": inPlace(acme, "key", "canary-2")}
	d.EnvVars = vars("A", secret("canary-3"))
	spec, err := b.DraftSpec(t.Context(), b.actor, &acme, nil, d)
	if err != nil || spec.Secrets["password"].Reveal() != "canary-1" || spec.Secrets["privateKey"].Reveal() != "canary-2" || len(spec.SecretProblems) != 0 {
		t.Errorf("problems %v, %v", spec.SecretProblems, err)
	}
	page, err := b.store.Secrets(t.Context(), acme, "", 0, "")
	if err != nil || len(page.Items) != 1 {
		t.Errorf("the draft stored %+v, %v", page.Items, err)
	}
}

// TestEveryOpeningIsNoted: for which purpose, by whom, with which outcome.
func TestEveryOpeningIsNoted(t *testing.T) {
	b := newBench(t)
	acme, globex := b.company("Acme"), b.company("Globex")
	id := b.shareIn(acme, "token", "canary-1")
	d := sshDraft("Build box", "passwordSecretRef", environment.RefTo(id))
	env := b.create(d)
	run, probe := environment.NewID(), environment.NewID()
	uses := []environment.SecretUse{
		{Purpose: environment.ForRun, CompanyID: &acme, RunID: &run, ActorName: "Ada"},
		{Purpose: environment.ForProbe, ProbeID: &probe, ActorName: "Bob"},
		{Purpose: environment.ForCleanup, CompanyID: &acme, RunID: &run, ActorName: "Ada"},
		{Purpose: environment.ForRun, CompanyID: &globex, ActorName: "Eve"},
	}
	for _, use := range uses {
		if _, _, err := b.Spec(t.Context(), env, use); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.DraftSpec(t.Context(), b.actor, &acme, &env.ID, sshDraft("")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.DraftSpec(t.Context(), b.actor, nil, nil, sshDraft("", "passwordSecretRef", environment.RefTo(id))); err != nil {
		t.Fatal(err)
	}
	page, err := b.store.SecretAccesses(t.Context(), id, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range page.Items {
		whose := "nobody's"
		switch {
		case a.CompanyID != nil && *a.CompanyID == acme:
			whose = "acme's"
		case a.CompanyID != nil:
			whose = "globex's"
		}
		got = append([]string{fmt.Sprintf("%s %s %s v%d %s %s row=%t run=%t probe=%t", a.ActorName, a.Purpose, a.ConfigPath, a.Version, a.Outcome, whose,
			a.EnvironmentID != nil, a.RunID != nil, a.ProbeID != nil)}, got...)
	}
	wanted := []string{
		"Ada run config.password v1 opened acme's row=true run=true probe=false",
		"Bob probe config.password v1 opened acme's row=true run=false probe=true",
		"Ada cleanup config.password v1 opened acme's row=true run=true probe=false",
		"Eve run config.password v0 environment_company_mismatch globex's row=true run=false probe=false",
		b.actor.Name + " draft config.password v1 opened acme's row=true run=false probe=false",
		b.actor.Name + " draft config.password v1 opened acme's row=false run=false probe=false",
	}
	if strings.Join(got, "\n") != strings.Join(wanted, "\n") {
		t.Errorf("accesses:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(wanted, "\n"))
	}
}

// TestRetiredSecretsOpenForCleanupOnly: a lease keeps the key that it was made with.
func TestRetiredSecretsOpenForCleanupOnly(t *testing.T) {
	b := newBench(t)
	acme := b.company("Acme")
	env := b.create(sshDraft("Build box", "password", "canary-1"))
	ref, err := json.Marshal(environment.Ref{Driver: "ssh", Config: env.Config})
	if err != nil {
		t.Fatal(err)
	}
	lease := environment.Lease{ID: environment.NewID(), CompanyID: acme, EnvironmentID: &env.ID, Status: environment.LeaseActive, Driver: "ssh", Ref: ref}
	if err := b.store.CreateLease(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	b.update(env, environment.Patch{Config: config("password", "canary-2")})
	made := environment.Environment{ID: env.ID, Driver: "ssh", Config: env.Config} // as running opens what a lease was made with
	spec, _, err := b.Spec(t.Context(), made, environment.SecretUse{Purpose: environment.ForCleanup, CompanyID: &acme})
	if err != nil || spec.Secrets["password"].Reveal() != "canary-1" {
		t.Errorf("cleanup cannot open what the lease was made with: %v, %v", spec.SecretProblems, err)
	}
	if spec := b.spec(made); spec.SecretProblems["password"] != environment.CodeSecretMissing {
		t.Errorf("a run opens a retired secret: %v", spec.SecretProblems)
	}
	_, err = b.Update(t.Context(), b.actor, env.ID, nil, environment.Patch{Config: config("passwordSecretRef", environment.RefTo(refOf(t, env, "password")))})
	if e := refusal(t, err, environment.KindInvalid, "validation_failed"); fields(e) != "config.passwordSecretRef" {
		t.Errorf("wrong at %q", fields(e))
	}
	_, err = b.store.UpdateLease(t.Context(), lease.ID, func(l *environment.Lease) error { l.Status = environment.LeaseReleasing; return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.store.UpdateLease(t.Context(), lease.ID, func(l *environment.Lease) error { l.Status = environment.LeaseReleased; return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := b.store.SweepSecrets(t.Context()); err != nil || n != 1 || b.stored(refOf(t, env, "password")) {
		t.Errorf("swept %d, %v", n, err)
	}
}
