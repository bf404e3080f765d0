package drivertest

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"berth/environment"
)

// sandboxes are those of one driver and installation.
type sandboxes struct {
	driver environment.Driver
	spec   environment.Spec
	can    environment.Capabilities
}

// ofInstance fills in what a sandbox needs to be told apart from others.
func ofInstance(spec environment.Spec) environment.Spec {
	if spec.InstanceID == (environment.Spec{}).InstanceID {
		spec.InstanceID = environment.NewID()
	}
	if spec.EnvironmentID == (environment.Spec{}).EnvironmentID {
		spec.EnvironmentID = environment.NewID()
	}
	if spec.OwnerKind == "" {
		spec.OwnerKind = environment.OwnerRun
	}
	spec.IdempotencyKey = environment.NewID().String()
	return spec
}

func runSandboxes(t *testing.T, x *sandboxes) {
	t.Run("C34 one key is one sandbox", x.oneForEachKey)
	t.Run("a receipt tells the truth, twice", x.receipts)
	t.Run("C86 what has no id yet is found by its key", x.foundByKey)
	t.Run("C86 a cancelled acquisition leaves nothing that its key does not find", x.cancelledAcquire)
	t.Run("another installation's is never touched", x.othersStay)
	if x.can.Resume {
		t.Run("what was stopped is resumed with its workspace", x.resumes)
		t.Run("what is gone is not resumed", x.goneIsNotResumed)
	}
	if x.can.Exec {
		t.Run("a sandbox that is lost ends its command", x.lostEndsExec)
	}
	if x.can.Shell {
		t.Run("a shell echoes, resizes and ends", x.shell)
		t.Run("closing a shell ends what it started", x.shellCloses)
	}
	if x.can.Identify {
		t.Run("what runs is what was chosen", x.identity)
	}
	if x.can.TemplateCapture {
		t.Run("a captured image holds the workspace and can be deleted", x.captures)
	}
	if x.can.List {
		if left := x.held(t, x.spec); len(left) > 0 {
			t.Errorf("left behind: %+v", left)
		}
	}
}

// acquire makes a sandbox that is destroyed at the end of the test.
func (x *sandboxes) acquire(t *testing.T, change ...func(*environment.Spec)) environment.Ref {
	t.Helper()
	spec := x.spec
	spec.IdempotencyKey = environment.NewID().String()
	for _, c := range change {
		c(&spec)
	}
	ref, err := x.driver.Acquire(t.Context(), spec)
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	ref.Spec = spec
	t.Cleanup(func() { x.destroy(t, ref) })
	return ref
}

// destroy releases with a context of its own: the test's has ended by then.
func (x *sandboxes) destroy(t *testing.T, ref environment.Ref) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := x.driver.Release(ctx, ref, environment.Destroy); err != nil {
		t.Errorf("release: %v", err)
	}
}

func (x *sandboxes) release(t *testing.T, ref environment.Ref, d environment.Disposition, outcome, id string) {
	t.Helper()
	receipt, err := x.driver.Release(t.Context(), ref, d)
	if err != nil || receipt.Outcome != outcome || receipt.ProviderID != id || receipt.At.IsZero() {
		t.Errorf("release %s: got %+v, %v, want %s of %s", d, receipt, err, outcome, id)
	}
}

// held is what the provider lists, by id; nil where it cannot list.
func (x *sandboxes) held(t *testing.T, spec environment.Spec) map[string]environment.Held {
	t.Helper()
	l, ok := x.driver.(environment.Lister)
	if !ok {
		return nil
	}
	if l.Place(spec.Config) == "" {
		t.Error("the place has no name")
	}
	all, err := l.List(t.Context(), spec)
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	found := map[string]environment.Held{}
	for _, h := range all {
		found[h.ProviderID] = h
	}
	return found
}

// stored is a ref as it comes back from the store.
func stored(t *testing.T, ref environment.Ref) environment.Ref {
	t.Helper()
	text, err := json.Marshal(ref)
	if err != nil {
		t.Fatal(err)
	}
	var back environment.Ref
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	back.Spec = ref.Spec
	return back
}

func (x *sandboxes) oneForEachKey(t *testing.T) {
	ref := x.acquire(t)
	ids := make(chan string, 8)
	var all sync.WaitGroup
	for range cap(ids) {
		all.Go(func() {
			again, err := x.driver.Acquire(t.Context(), ref.Spec)
			if err != nil {
				t.Errorf("acquire at the same time: %v", err)
			}
			ids <- again.ProviderID
		})
	}
	all.Wait()
	close(ids)
	for id := range ids {
		if id != ref.ProviderID {
			t.Errorf("got %s, want %s", id, ref.ProviderID)
		}
	}
	if held := x.held(t, x.spec); x.can.List && (len(held) != 1 || held[ref.ProviderID].LeaseKey != ref.Spec.IdempotencyKey || !held[ref.ProviderID].Running) {
		t.Errorf("listed: got %+v, want %s alone, running, of %s", held, ref.ProviderID, ref.Spec.IdempotencyKey)
	}
	if ref.Provider != x.can.Provider || ref.LeaseKey != ref.Spec.IdempotencyKey || ref.InstanceID != x.spec.InstanceID || ref.Image == nil || ref.ProviderVersion == "" {
		t.Errorf("the ref says too little: %+v", ref)
	}
	if other := x.acquire(t); other.ProviderID == ref.ProviderID || other.Host.BootID == ref.Host.BootID {
		t.Errorf("two keys, one sandbox: %+v and %+v", ref, other)
	}
}

func (x *sandboxes) receipts(t *testing.T) {
	ref := stored(t, x.acquire(t))
	x.release(t, ref, environment.Destroy, "destroyed", ref.ProviderID)
	if held := x.held(t, x.spec); len(held) > 0 {
		t.Errorf("still there: %+v", held)
	}
	x.release(t, ref, environment.Destroy, "gone", ref.ProviderID)
	x.release(t, ref, environment.StopAndRetain, "gone", ref.ProviderID)
}

// withoutID is what is known of an acquisition whose answer never came.
func withoutID(spec environment.Spec) environment.Ref {
	key := spec.Key()
	return environment.Ref{Driver: key.Driver, Provider: key.Provider, Config: spec.Config, LeaseKey: spec.IdempotencyKey, InstanceID: spec.InstanceID, Spec: spec}
}

func (x *sandboxes) foundByKey(t *testing.T) {
	ref := x.acquire(t)
	neighbour := x.acquire(t)
	x.release(t, withoutID(ref.Spec), environment.Destroy, "destroyed", ref.ProviderID)
	if _, there := x.held(t, x.spec)[neighbour.ProviderID]; x.can.List && !there {
		t.Error("its neighbour went with it")
	}
	x.release(t, withoutID(ref.Spec), environment.Destroy, "gone", "")
}

func (x *sandboxes) cancelledAcquire(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond} {
		spec := x.spec
		spec.IdempotencyKey = environment.NewID().String()
		ctx, cancel := context.WithTimeout(t.Context(), after)
		ref, err := x.driver.Acquire(ctx, spec)
		cancel()
		if err == nil {
			ref.Spec = spec
			x.release(t, ref, environment.Destroy, "destroyed", ref.ProviderID)
			continue
		}
		x.destroy(t, withoutID(spec))
	}
	if held := x.held(t, x.spec); len(held) > 0 {
		t.Errorf("left behind: %+v", held)
	}
}

func (x *sandboxes) othersStay(t *testing.T) {
	others := x.acquire(t, func(s *environment.Spec) { s.InstanceID = environment.NewID() })
	ours := x.acquire(t)
	if held := x.held(t, x.spec); x.can.List && (len(held) != 1 || held[ours.ProviderID].ProviderID == "") {
		t.Errorf("got %+v, want our own %s only", held, ours.ProviderID)
	}
	claimed := others // as if a row of ours had another's id
	claimed.InstanceID, claimed.Spec.InstanceID = x.spec.InstanceID, x.spec.InstanceID
	if receipt, err := x.driver.Release(t.Context(), claimed, environment.Destroy); err == nil && receipt.Outcome != "gone" {
		t.Errorf("by its id: got %+v, want a refusal or gone", receipt)
	}
	byKey := withoutID(claimed.Spec)
	if receipt, err := x.driver.Release(t.Context(), byKey, environment.Destroy); err == nil && receipt.Outcome != "gone" {
		t.Errorf("by its key: got %+v, want a refusal or gone", receipt)
	}
	if r, ok := x.driver.(environment.Resumer); ok {
		if _, err := r.Resume(t.Context(), claimed, claimed.Spec); codeOf(err) != environment.CodeSandboxMismatch && codeOf(err) != environment.CodeSandboxGone {
			t.Errorf("resume: got %v, want %s", err, environment.CodeSandboxMismatch)
		}
	}
	if held := x.held(t, others.Spec); x.can.List && !held[others.ProviderID].Running {
		t.Errorf("the other's was touched: %+v", held)
	}
}
