package handlers

import (
	"strings"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/identity"
	"berth/handlers/api"

	"github.com/google/uuid"
)

// endsWithin is the product's promise for whoever may no longer read.
const endsWithin = 5 * time.Second

// startProbeAs begins a test of a new environment that lasts until the driver is
// opened.
func (f *authFront) startProbeAs(header string) string {
	f.t.Helper()
	var env api.Environment
	name := environment.NewID().String()
	f.want(f.call("POST", f.environments(), `{"name":"`+name+`","driver":"ssh","config":{"host":"box.test","username":"runner"}}`, header), 201, &env)
	var begun api.ProbeResult
	f.want(f.call("POST", "/api/environments/"+env.ID.String()+"/probe?wait=0", "", header), 202, &begun)
	return begun.Details.ProbeID.String()
}

func (f *authFront) disable(p environment.Person) {
	f.t.Helper()
	yes := true
	if _, err := f.store.UpdatePerson(f.t.Context(), p.ID, identity.PersonPatch{Disabled: &yes}, environment.Activity{}); err != nil {
		f.t.Fatal(err)
	}
}

// TestStreamsEndWithTheRightsOfTheirReader is the table of what ends a stream:
// within 5 s, with the reason, and with nothing after it.
func TestStreamsEndWithTheRightsOfTheirReader(t *testing.T) {
	tests := []struct {
		name   string
		deaf   bool // no word of the change arrives; only asking again tells
		reason string
		revoke func(t *testing.T, f *authFront, s scene)
		reader func(s scene) string
	}{
		{"a session that was ended", false, "signed_out", endSession, scene.byMember},
		{"a session that was ended, unheard", true, "signed_out", endSession, scene.byMember},
		{"a person who was disabled", false, "signed_out", func(_ *testing.T, f *authFront, s scene) { f.disable(s.member) }, scene.byMember},
		{"a member who was removed", false, "forbidden", removeMember, scene.byMember},
		{"a member who was removed, unheard", true, "forbidden", removeMember, scene.byMember},
		{"a token that was revoked", false, "signed_out", func(t *testing.T, f *authFront, s scene) {
			must(t, f.store.RevokeKey(t.Context(), s.member.ID, s.tokenID, environment.Activity{}))
		}, scene.byToken},
		{"an agent's key that was revoked", false, "signed_out", func(t *testing.T, f *authFront, s scene) {
			must(t, f.store.RevokeKey(t.Context(), s.agent.ID, s.keyID, environment.Activity{}))
		}, scene.byAgent},
		{"an agent who was disabled", false, "signed_out", func(t *testing.T, f *authFront, s scene) {
			off := environment.AgentDisabled
			_, err := f.store.UpdateAgent(t.Context(), s.agent.ID, identity.AgentPatch{Status: &off}, environment.Activity{})
			must(t, err)
		}, scene.byAgent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newAuthFront(t, func(d *Deps) {
				if tt.deaf {
					d.Feed = deafFeed{}
				}
			})
			s := f.scene()
			header := tt.reader(s)
			r := f.stream("/api/runs/"+s.run+"/events", header)
			if r.status != 200 {
				t.Fatalf("the stream is answered %d", r.status)
			}
			r.until("state")
			began := time.Now()
			tt.revoke(t, f, s)
			end := r.until("end")
			if last := end[len(end)-1]; last.data != `{"reason":"`+tt.reason+`"}` || last.id != "" {
				t.Errorf("it ended with %+v", last)
			}
			if took := time.Since(began); took > endsWithin {
				t.Errorf("it ended after %v", took)
			}
			if e := r.next(); e.name != "" {
				t.Errorf("after the end came %+v", e)
			}
			if again := f.stream("/api/runs/"+s.run+"/events", header); again.status != 401 && again.status != 404 && again.status != 403 {
				t.Errorf("once more: %d", again.status)
			}
		})
	}
}

func endSession(t *testing.T, f *authFront, s scene) {
	_, err := f.store.EndSessions(t.Context(), s.member.ID, nil, environment.Activity{})
	must(t, err)
}

func removeMember(t *testing.T, f *authFront, s scene) {
	must(t, f.store.SetRole(t.Context(), s.member.ID, f.company, "", environment.Activity{}))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// scene is a run of an agent's, and who reads it.
type scene struct {
	member             environment.Person
	agent              environment.Agent
	cookie, token, key string
	tokenID, keyID     uuid.UUID
	run                string
	admin              string
}

func (s scene) byMember() string { return s.cookie }
func (s scene) byToken() string  { return bearer(s.token) }
func (s scene) byAgent() string  { return bearer(s.key) }

func (f *authFront) scene() scene {
	f.t.Helper()
	ada := f.person("ada", true, "")
	s := scene{member: f.person("bob", false, environment.RoleMember), agent: f.agent("robot")}
	s.admin = f.signIn(ada)
	s.cookie = f.signIn(s.member)
	s.token, s.tokenID = f.key(environment.Key{PersonID: &s.member.ID})
	s.key, s.keyID = f.key(environment.Key{AgentID: &s.agent.ID})
	var env api.Environment
	f.want(f.call("POST", f.environments(), `{"name":"box","driver":"ssh","config":{"host":"box.test","username":"runner"}}`, s.admin), 201, &env)
	var run api.Run
	f.want(f.call("POST", "/api/companies/"+f.company.String()+"/runs", `{"environmentId":"`+env.ID.String()+`","command":["x"]}`, bearer(s.key)), 201, &run)
	s.run = run.ID.String()
	return s
}

// deafFeed tells nobody of anything.
type deafFeed struct{}

func (deafFeed) Subscribe(uuid.UUID) (<-chan struct{}, func()) { return nil, func() {} }

// TestWaitsEndWithTheRightsOfTheCaller: who waits for a test and is signed out
// meanwhile is told so, not what the test found. The test goes on.
func TestWaitsEndWithTheRightsOfTheCaller(t *testing.T) {
	f := newAuthFront(t)
	ada := f.person("ada", true, "")
	f.person("grace", true, "")
	cookie := f.signIn(ada)
	key, _ := f.key(environment.Key{PersonID: &ada.ID})
	var env api.Environment
	f.want(f.call("POST", f.environments(), `{"name":"box","driver":"ssh","config":{"host":"box.test","username":"runner"}}`, cookie), 201, &env)
	waiting := make(chan answer, 2)
	for _, header := range []string{cookie, bearer(key)} {
		go func() { waiting <- f.call("POST", "/api/environments/"+env.ID.String()+"/probe", "", header) }()
	}
	eventually(t, "the probe to run", func() bool {
		return strings.Contains(f.call("GET", "/api/environments/"+env.ID.String(), "", cookie).Body, `"testing"`)
	})
	began := time.Now()
	f.disable(ada)
	for range 2 {
		if a := <-waiting; a.Status != 401 || strings.Contains(a.Body, "box") {
			t.Errorf("who waits gets %d %s", a.Status, a.Body)
		}
	}
	if took := time.Since(began); took > endsWithin {
		t.Errorf("after %v", took)
	}
}
