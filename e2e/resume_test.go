package e2e

import (
	"strings"
	"testing"
	"time"

	"berth/drivers/docker/enginetest"
)

// resumes is an environment whose sandbox is kept, and the way to its engine.
type resumes struct {
	*sandboxes
	proxy *enginetest.Proxy
	env   string
}

func newResumes(t *testing.T, image func(*enginetest.Engine) string, startup int) *resumes {
	t.Helper()
	r := &resumes{sandboxes: &sandboxes{server: site(t), engine: engineOf(t)}}
	r.proxy = enginetest.NewProxy(t, r.engine)
	r.env = saveSandbox(t, r.server, r.proxy.Host, unique("Kept"), image(r.engine), map[string]any{"reuseLease": true, "startupTimeoutSec": startup})
	t.Cleanup(func() {
		r.call(t, "DELETE", "/api/environments/"+r.env, nil, nil, 200)
		until(t, longWait, "the deleted environment leaves nothing", func() bool { return len(r.held(t, r.env)) == 0 })
	})
	return r
}

// kept is a lease in so far as these drills look at it.
type kept struct{ ID, Status, ProviderLeaseID, FailureReason, Acquisition string }

// of returns the leases of a status, the last used first.
func (r *resumes) of(t *testing.T, status string) []kept {
	t.Helper()
	var all []kept
	r.call(t, "GET", "/api/environments/"+r.env+"/leases?status="+status, nil, &all, 200)
	return all
}

// keeps runs a command and returns the lease that is kept afterwards.
func (r *resumes) keeps(t *testing.T, limit time.Duration, argv ...string) kept {
	t.Helper()
	run := r.begin(t, r.env, argv...)
	r.reaches(t, run, limit, "succeeded")
	until(t, longWait, "lease is kept", func() bool { return len(r.of(t, "retained")) == 1 })
	return r.of(t, "retained")[0]
}

// fails lets a resume fail: all its tries share one deadline, the row and the
// container stay as they were, and the next run resumes it.
func (r *resumes) fails(t *testing.T, budget time.Duration) {
	t.Helper()
	before := r.keeps(t, budget+longWait, "sh", "-c", "echo mine > note")
	state := r.engine.Containers(t, "berth.environment="+r.env)
	r.proxy.Refuse("/start", 1000)
	asked, began := len(r.proxy.Requests()), time.Now()
	run := r.begin(t, r.env, "cat", "note")
	w := r.ends(t, run, budget+longWait)
	took, tries := time.Since(began), 0
	for _, line := range r.proxy.Requests()[asked:] {
		if strings.HasSuffix(line, "/start") {
			tries++
		}
	}
	if w.Failure == nil || w.Failure.Code == "internal" || !strings.Contains(w.Failure.Message, "stays as it is") {
		t.Errorf("the resume: %s", w)
	}
	if tries < 2 || took < budget-2*time.Second || took > budget+10*time.Second {
		t.Errorf("%d tries in %s, for %s", tries, took, budget)
	}
	after := r.of(t, "retained")
	if len(after) != 1 || after[0] != before {
		t.Errorf("kept were %+v, now %+v", before, after)
	}
	if now := r.engine.Containers(t, "berth.environment="+r.env); len(now) != 1 || now[0].ID != state[0].ID || now[0].State != state[0].State {
		t.Errorf("the engine had %+v, now %+v", state, now)
	}
	r.proxy.Relent()
	again := r.keeps(t, budget+longWait, "cat", "note")
	if again.ProviderLeaseID != before.ProviderLeaseID || again.Acquisition != "resumed" {
		t.Errorf("the next run left %+v, the sandbox was %+v", again, before)
	}
	t.Logf("%d tries in %s failed with %s; the next run resumed it", tries, took.Round(10*time.Millisecond), w.Failure.Code)
}

// TestDrill_ResumeFails is a short one of what the soak does.
func TestDrill_ResumeFails(t *testing.T) {
	t.Parallel()
	newResumes(t, func(e *enginetest.Engine) string { return e.Busybox(t) }, 5).fails(t, 5*time.Second)
}
