package e2e

import (
	"testing"

	"berth/drivers/docker/enginetest"
)

// engineOf is the Docker engine that all tests of a run share.
func engineOf(t *testing.T) *enginetest.Engine {
	t.Helper()
	return shared.engine.Engine(t)
}

// sandboxes is a server with an engine and a registry.
type sandboxes struct {
	*server
	engine   *enginetest.Engine
	registry *enginetest.Registry
}

// newSandboxes is the journeys' server, or one of the test's own when it is to be
// started with something, beside the shared engine.
func newSandboxes(t *testing.T, env ...string) *sandboxes {
	t.Helper()
	s := &sandboxes{engine: engineOf(t), registry: enginetest.StartRegistry(t, enginetest.RegistryOptions{})}
	if len(env) == 0 {
		s.server = site(t)
		return s
	}
	s.server = newServer(t, env...)
	s.furnish(t, unique("Sandboxes"))
	return s
}

// save stores an environment of an image on the engine, with more settings if any
// are given.
func (s *sandboxes) save(t *testing.T, name, image string, more map[string]any) string {
	t.Helper()
	return saveSandbox(t, s.server, s.engine.Host, name, image, more)
}

func saveSandbox(t *testing.T, s *server, engine, name, image string, more map[string]any) string {
	t.Helper()
	config := map[string]any{"provider": "docker", "engine": engine, "image": image, "network": "none"}
	for key, value := range more {
		config[key] = value
	}
	var e environment
	s.call(t, "POST", "/api/companies/"+s.company+"/environments", map[string]any{"name": name, "driver": "sandbox", "config": config}, &e, 201)
	return e.ID
}

// held are the containers that the installation of a server holds.
func (s *sandboxes) held(t *testing.T, environment string) []string {
	t.Helper()
	return s.engine.IDs(t, "berth.environment="+environment)
}

// isEmpty fails unless the engine holds nothing of an environment.
func (s *sandboxes) isEmpty(t *testing.T, environment, when string) {
	t.Helper()
	if ids := s.held(t, environment); len(ids) > 0 {
		t.Errorf("%s: the engine holds %v", when, ids)
	}
}

// verdict is a probe's result in so far as these tests look at it.
type verdict struct {
	OK         bool
	Summary    string
	Recorded   *bool                           `json:"platformQualificationRecorded"`
	Diagnostic *struct{ Code, Message string } `json:"platformQualificationDiagnostic"`
	Details    struct {
		Code     string
		Platform *struct{ OS, Arch, Libc string }
		Stages   []struct{ Name, Status, Code string }
		Recorded *bool `json:"platformQualificationRecorded"`
	}
}

// recorded reports whether the probe recorded a qualification; its word is at the
// top and in the details.
func (v verdict) recorded(t *testing.T) bool {
	t.Helper()
	if v.Recorded == nil || v.Diagnostic == nil || v.Details.Recorded == nil || *v.Recorded != *v.Details.Recorded {
		t.Fatalf("the result says nothing of a qualification, or two things: %+v", v)
	}
	return *v.Recorded
}

func (s *sandboxes) probe(t *testing.T, environment string) verdict {
	t.Helper()
	var v verdict
	s.call(t, "POST", "/api/environments/"+environment+"/probe?companyId="+s.company, nil, &v, 200)
	return v
}

func (s *sandboxes) patch(t *testing.T, environment string, config map[string]any) {
	t.Helper()
	s.call(t, "PATCH", "/api/environments/"+environment, map[string]any{"config": config}, nil, 200)
}

// native starts a native run and returns it when it has ended.
func (s *sandboxes) native(t *testing.T, environment string, argv ...string) work {
	t.Helper()
	var w work
	s.call(t, "POST", "/api/companies/"+s.company+"/runs", map[string]any{"environmentId": environment, "command": argv, "native": true}, &w, 201)
	return s.ends(t, w.ID, longWait)
}

// Who may read the registry that startClosedRegistry starts.
const closedUser, closedPassword = "puller", "right-of-the-registry"

func startClosedRegistry(t *testing.T) *enginetest.Registry {
	t.Helper()
	return enginetest.StartRegistry(t, enginetest.RegistryOptions{Username: closedUser, Password: closedPassword})
}
