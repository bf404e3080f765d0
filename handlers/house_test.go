package handlers

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/environmenttest"
	"berth/environment/secrets"

	"github.com/google/uuid"
)

// house is a front door on a twin with two companies, Acme and Globex, and
// somebody of each kind with a key. All rows that addresses name are Acme's.
type house struct {
	server  *server
	t       *testing.T
	store   *environmenttest.Store
	handler http.Handler
	bearers map[string]string // by actor
	ids     map[string]string // by what an address names
	own     map[string]string // of an actor: the id of a session and of a spare token
	state   string            // fingerprint of the store when it was furnished
}

// newHouse opens one for an actor: the local operator's is in local_trusted.
func newHouse(t *testing.T, actor string) *house {
	t.Helper()
	h := &house{t: t, store: environmenttest.NewStore(time.Now), bearers: map[string]string{}, ids: map[string]string{}, own: map[string]string{}}
	d := newDeps(t, h.store, slog.New(slog.DiscardHandler), newScriptedSSH(), newScriptedSandbox())
	d.Mode, d.Dev = modeAuthenticated, true
	if actor == "local operator" {
		d.Mode = modeLocalTrusted
	}
	s := newServer(d)
	s.assets, s.notThereTakes = packedForms{}, 0
	h.server, h.handler = s, documented(t, s.handler())
	h.furnish(d)
	h.state = h.store.Fingerprint()
	return h
}

// isUnchanged fails the test if anything was changed since the furnishing.
func (h *house) isUnchanged(after string) {
	h.t.Helper()
	if h.store.Fingerprint() != h.state {
		h.t.Errorf("%s: something was changed", after)
	}
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) furnish(d Deps) {
	h.t.Helper()
	ctx, operator := h.t.Context(), environment.LocalOperator()
	local, err := d.Catalogue.EnsureLocal(ctx, true)
	h.must(err)
	h.ids["local"] = local.ID.String()
	h.store.TurnOn()
	acme, err := d.Catalogue.CreateCompany(ctx, operator, "Acme")
	h.must(err)
	globex, err := d.Catalogue.CreateCompany(ctx, operator, "Globex")
	h.must(err)
	env, err := d.Catalogue.Create(ctx, operator, environment.Draft{Name: "box", Driver: "ssh", Config: map[string]json.RawMessage{"host": json.RawMessage(`"zebra.example"`)}})
	h.must(err)
	secret, err := d.Secrets.Create(ctx, operator, acme.ID, secrets.New{Name: "deploy key", Value: environment.NewSecret("zebra-value")})
	h.must(err)
	h.ids[":c"], h.ids["environment"], h.ids["secret"] = acme.ID.String(), env.ID.String(), secret.ID.String()

	agent := h.agent("agent", acme.ID)
	h.agent("foreign agent", globex.ID)
	h.ids["agent"] = h.agent("spare agent", acme.ID).String()
	h.work(acme.ID, env, agent)
	h.sandbox(d, acme.ID)
	h.people(acme.ID, globex.ID)
}

// work makes a run that has ended, with its lease, and a probe that has.
func (h *house) work(company uuid.UUID, env environment.Environment, agent uuid.UUID) {
	h.t.Helper()
	ctx, now := h.t.Context(), time.Now()
	run := environment.Run{ID: environment.NewID(), CompanyID: company, EnvironmentID: &env.ID, EnvironmentName: env.Name, Driver: "ssh",
		Target: "zebra.example", Kind: environment.KindCommand, AgentID: &agent, Command: []string{"true"}, Status: environment.RunSucceeded,
		Host: &environment.HostFacts{Name: "zebra"}, FinishedAt: &now}
	provider := "ssh://zebra.example"
	lease := environment.Lease{ID: environment.NewID(), CompanyID: company, EnvironmentID: &env.ID, RunID: &run.ID, OwnerKind: "run",
		Status: environment.LeaseReleased, Policy: "ephemeral", Driver: "ssh", Provider: "ssh", ProviderID: &provider,
		Ref: json.RawMessage(`{"driver":"ssh","config":{"host":"zebra.example"}}`), Metadata: json.RawMessage(`{"host":"zebra"}`), HeartbeatAt: now}
	run.LeaseID = &lease.ID
	h.must(h.store.CreateRun(ctx, run, environment.Activity{}))
	h.must(h.store.CreateLease(ctx, lease))
	probe := environment.Probe{ID: environment.NewID(), EnvironmentID: &env.ID, CompanyID: &company, Driver: "ssh", Target: "zebra.example", ConfigRevision: 1}
	_, _, err := h.store.CreateProbe(ctx, probe)
	h.must(err)
	probe.State, probe.OK, probe.Summary, probe.FinishedAt = environment.ProbeDone, true, "zebra.example is ready", &now
	_, err = h.store.FinishProbe(ctx, probe, environment.QualificationChange{}, environment.Activity{})
	h.must(err)
	h.ids["run"], h.ids["lease"], h.ids["probe"] = run.ID.String(), lease.ID.String(), probe.ID.String()
}

// sandbox makes a sandbox's environment with a lease that keeps one, and a probe of
// it that has ended: they are named after "sandbox ".
func (h *house) sandbox(d Deps, company uuid.UUID) {
	h.t.Helper()
	ctx, now := h.t.Context(), time.Now()
	env, err := d.Catalogue.Create(ctx, environment.LocalOperator(), environment.Draft{Name: "shed", Driver: "sandbox",
		Config: map[string]json.RawMessage{"provider": json.RawMessage(`"docker"`), "image": json.RawMessage(`"zebra.example/app:1"`)}})
	h.must(err)
	zebra := "zebra: words of the engine"
	lease := environment.Lease{ID: environment.NewID(), CompanyID: company, EnvironmentID: &env.ID, EnvironmentName: env.Name, OwnerKind: "run",
		Status: environment.LeaseRetained, Policy: environment.PolicyReuseEnvironment, Driver: "sandbox", Provider: "docker", ProviderID: &zebra,
		Ref: json.RawMessage(`{"driver":"sandbox","provider":"docker","providerId":"zebra"}`), Metadata: json.RawMessage(`{"image":"zebra"}`),
		Receipt: json.RawMessage(`{"outcome":"stopped","providerId":"zebra"}`), FailureReason: &zebra, AcquisitionReason: &zebra, CleanupError: &zebra,
		HeartbeatAt: now, TTLSec: 120, RetainSec: 3600}
	h.must(h.store.CreateLease(ctx, lease))
	image := environment.ImageIdentity{Kind: environment.ImageDigest, Reference: "zebra.example/app:1", ImageID: "sha256:zebra"}
	probe := environment.Probe{ID: environment.NewID(), EnvironmentID: &env.ID, CompanyID: &company, Driver: "sandbox", Target: "docker: zebra.example/app:1", ConfigRevision: 1}
	_, _, err = h.store.CreateProbe(ctx, probe)
	h.must(err)
	probe.State, probe.OK, probe.Summary, probe.FinishedAt = environment.ProbeDone, true, "zebra.example/app:1 is ready", &now
	probe.Image, probe.LeaseID, probe.Host = &image, &lease.ID, &environment.HostFacts{Name: "zebra"}
	probe.Qualification = &environment.QualificationResult{Code: environment.QualMutableImage, Message: "zebra.example/app:1 is a tag"}
	_, err = h.store.FinishProbe(ctx, probe, environment.QualificationChange{}, environment.Activity{})
	h.must(err)
	h.ids["sandbox environment"], h.ids["sandbox lease"], h.ids["sandbox probe"] = env.ID.String(), lease.ID.String(), probe.ID.String()
}

// ofSandbox is the house whose addresses name the sandbox's rows.
func (h *house) ofSandbox() *house {
	other := *h
	other.ids = maps.Clone(h.ids)
	for _, name := range []string{"environment", "lease", "probe"} {
		other.ids[name] = h.ids["sandbox "+name]
	}
	return &other
}

func (h *house) people(acme, globex uuid.UUID) {
	h.t.Helper()
	type roles = map[uuid.UUID]environment.Role
	h.person("member", false, roles{acme: environment.RoleMember})
	h.person("foreign member", false, roles{globex: environment.RoleMember})
	h.person("foreign owner", false, roles{globex: environment.RoleOwner})
	h.person("member, owner elsewhere", false, roles{acme: environment.RoleMember, globex: environment.RoleOwner})
	h.person("company admin", false, roles{acme: environment.RoleAdmin})
	h.person("owner", false, roles{acme: environment.RoleOwner})
	h.person("instance admin", true, nil)
	h.ids["person"] = h.person("bystander", false, roles{acme: environment.RoleMember}).String()
	link := environment.Link{ID: environment.NewID(), Kind: environment.LinkInvitation, Email: "new@example.com", ExpiresAt: time.Now().Add(time.Hour)}
	h.must(h.store.CreateLink(h.t.Context(), link, []byte("hash of an invitation"), environment.Activity{}))
	h.ids["invitation"] = link.ID.String()
}

// person makes somebody with a key, a session and a spare token.
func (h *house) person(name string, admin bool, roles map[uuid.UUID]environment.Role) uuid.UUID {
	h.t.Helper()
	ctx := h.t.Context()
	link := environment.Link{ID: environment.NewID(), Kind: environment.LinkInvitation, Email: strings.NewReplacer(" ", ".", ",", "").Replace(name) + "@example.com",
		InstanceAdmin: admin, Roles: roles, ExpiresAt: time.Now().Add(time.Hour)}
	hash := []byte("link of " + name)
	h.must(h.store.CreateLink(ctx, link, hash, environment.Activity{}))
	p, err := h.store.Redeem(ctx, hash, environment.Person{ID: environment.NewID(), Name: name}, "plain a long password", environment.Activity{})
	h.must(err)
	h.bearers[name], _ = h.key(environment.TokenPerson, environment.Key{PersonID: &p.ID})
	_, h.own[name+" token"] = h.key(environment.TokenPerson, environment.Key{PersonID: &p.ID})
	session := environment.Session{ID: environment.NewID(), PersonID: p.ID}
	h.must(h.store.CreateSession(ctx, session, time.Now().Add(time.Hour), environment.Activity{}))
	h.own[name+" session"] = session.ID.String()
	return p.ID
}

func (h *house) agent(name string, company uuid.UUID) uuid.UUID {
	h.t.Helper()
	a := environment.Agent{ID: environment.NewID(), CompanyID: company, Name: name, AdapterType: "process", Status: environment.AgentActive}
	h.must(h.store.CreateAgent(h.t.Context(), a, environment.Activity{}))
	h.bearers[name], h.ids["key"] = h.key(environment.TokenAgent, environment.Key{AgentID: &a.ID})
	return a.ID
}

func (h *house) key(kind environment.TokenKind, k environment.Key) (text, id string) {
	h.t.Helper()
	secret, token, err := environment.NewToken(kind, rand.Reader)
	h.must(err)
	k.ID, k.Name, k.Hint = environment.NewID(), "key", token.Hint
	h.must(h.store.CreateKey(h.t.Context(), k, token.Hash[:], 100, environment.Activity{}))
	return secret.Reveal(), k.ID.String()
}

// fill puts ids into a route's pattern.
func (h *house) fill(pattern, actor string) string {
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		switch part {
		case ":c":
			parts[i] = h.ids[":c"]
		case ":id", ":pid", ":kid":
			parts[i] = h.named(parts[:i], part, actor)
		case ":token":
			parts[i] = "berth_link_nothing"
		case ":name":
			parts[i] = "nothing"
		case "*":
			parts[i] = "app.css"
		}
	}
	return strings.Join(parts, "/")
}

// elsewhere names things that do not exist.
func (h *house) elsewhere() *house {
	other := *h
	other.ids = map[string]string{}
	for name := range h.ids {
		other.ids[name] = environment.NewID().String()
	}
	return &other
}

// named is the id that belongs after the parts of an address before it.
func (h *house) named(before []string, param, actor string) string {
	if param == ":kid" {
		return h.ids["key"]
	}
	switch kind := before[len(before)-1]; kind {
	case "sessions", "tokens":
		if own := h.own[actor+" "+strings.TrimSuffix(kind, "s")]; own != "" {
			return own
		}
		return environment.NewID().String() // nobody else has any
	case "members", "people":
		return h.ids["person"]
	case "environment-leases", "leases":
		return h.ids["lease"]
	case "environments", "runs", "probes", "agents", "secrets", "invitations":
		return h.ids[strings.TrimSuffix(kind, "s")]
	default:
		h.t.Fatalf("what does %s/%s name? Say it in house_test.go", strings.Join(before, "/"), param)
		return ""
	}
}

// ask sends a request as an actor; body "" sends none.
func (h *house) ask(actor, method, path, body string) answer {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 20*time.Second)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, method, "http://127.0.0.1"+path, strings.NewReader(body))
	r.Header.Set("X-Request-Id", "the-same-for-each")
	if token := h.bearers[actor]; token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if strings.HasPrefix(path, "/api/") {
			r.Header.Set("Content-Type", "application/json")
		}
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	raw, err := io.ReadAll(w.Body)
	h.must(err)
	return answer{w.Code, w.Header(), string(raw)}
}

// refusals counts the entries of refused attempts.
func (h *house) refusals() int {
	h.t.Helper()
	page, err := h.store.Activity(h.t.Context(), environment.ActivityFilter{Action: "access.refused", Limit: 1000})
	h.must(err)
	return len(page.Items)
}
