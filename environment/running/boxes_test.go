package running_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"berth/environment"
	"berth/environment/catalogue"
	"berth/environment/leasing"

	"github.com/google/uuid"
)

// boxLink is the driver of sandboxes as one server has it. Sandboxes are on the
// same target, which survives servers; what runs in one goes with it.
type boxLink struct {
	*link
	provider string
}

func (boxLink) Name() string                                { return environment.DriverSandbox }
func (l boxLink) Provider() string                          { return l.provider }
func (boxLink) Describe(json.RawMessage) string             { return "app on docker" }
func (boxLink) StartupBudget(json.RawMessage) time.Duration { return time.Minute }

func (l boxLink) Acquire(ctx context.Context, spec environment.Spec) (environment.Ref, error) {
	if _, err := l.link.Acquire(ctx, spec); err != nil {
		return environment.Ref{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuseBox != nil {
		return environment.Ref{}, l.refuseBox
	}
	id := fmt.Sprintf("box-%d", len(l.boxed)+1)
	l.boxed, l.boxes[id] = append(l.boxed, spec), true
	return l.ref(id, spec), nil
}

func (l boxLink) ref(id string, spec environment.Spec) environment.Ref {
	return environment.Ref{Driver: environment.DriverSandbox, Provider: l.provider, ProviderID: id, Dir: "/workspace", Config: spec.Config,
		Host: environment.HostFacts{Name: "c0ffee", BootID: id}, LeaseKey: spec.IdempotencyKey, InstanceID: spec.InstanceID}
}

func (l boxLink) Resume(_ context.Context, ref environment.Ref, spec environment.Spec) (environment.Ref, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, there := l.boxes[ref.ProviderID]; !there {
		return environment.Ref{}, environment.NewError(environment.KindNotFound, environment.CodeSandboxGone, "The sandbox is gone.")
	}
	l.boxes[ref.ProviderID] = true
	return l.ref(ref.ProviderID, spec), nil
}

func (l boxLink) Release(ctx context.Context, ref environment.Ref, how environment.Disposition) (environment.Receipt, error) {
	l.mu.Lock()
	instead, pause := l.releaseBox, l.releaseTime
	l.mu.Unlock()
	select {
	case <-time.After(pause):
	case <-ctx.Done():
		return environment.Receipt{}, ctx.Err()
	case <-l.cut:
		<-ctx.Done()
		return environment.Receipt{}, ctx.Err()
	}
	if instead != nil {
		return instead(ref)
	}
	receipt := environment.Receipt{Outcome: "gone", ProviderID: ref.ProviderID}
	l.set(func(t *target) {
		for i, spec := range t.boxed { // the answer of its making never came
			if ref.ProviderID == "" && spec.IdempotencyKey == ref.LeaseKey {
				ref.ProviderID = fmt.Sprintf("box-%d", i+1)
				receipt.ProviderID = ref.ProviderID
			}
		}
		if _, there := t.boxes[ref.ProviderID]; !there {
			return
		}
		for _, w := range t.works {
			w.end(environment.ExecResult{ExitCode: 137, Signal: "KILL", Ended: "killed with its sandbox"})
		}
		if receipt.Outcome = "destroyed"; how == environment.StopAndRetain {
			receipt.Outcome, t.boxes[ref.ProviderID] = "stopped", false
			return
		}
		delete(t.boxes, ref.ProviderID)
	})
	return receipt, nil
}

func (l boxLink) Exec(ctx context.Context, ref environment.Ref, order environment.Exec) (environment.ExecResult, error) {
	l.mu.Lock()
	running := l.boxes[ref.ProviderID]
	l.mu.Unlock()
	if !running {
		return environment.ExecResult{}, environment.NewError(environment.KindNotFound, environment.CodeSandboxGone, "The sandbox is gone.")
	}
	return l.link.Exec(ctx, ref, order)
}

// vanish takes every sandbox away behind Berth's back.
func (t *target) vanish() {
	t.set(func(t *target) {
		clear(t.boxes)
		t.refuseEnd = environment.NewError(environment.KindNotFound, environment.CodeSandboxGone, "The sandbox is gone.")
		for _, w := range t.works {
			w.end(environment.ExecResult{ExitCode: 137, Signal: "KILL", Ended: "killed with its sandbox"})
		}
	})
}

// there are the sandboxes that are left, and how many were made.
func (t *target) there() (ids []string, made int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.boxes)), len(t.boxed)
}

// box is a saved sandbox.
func (b *bed) box(config string, change ...func(*environment.Environment)) environment.Environment {
	b.t.Helper()
	env := environment.Environment{ID: environment.NewID(), Name: "box " + environment.NewID().String(), Driver: environment.DriverSandbox,
		Status: environment.StatusActive, Config: json.RawMessage(config)}
	for _, c := range change {
		c(&env)
	}
	env, err := b.store.CreateEnvironment(context.Background(), catalogue.Write{Environment: env})
	if err != nil {
		b.t.Fatalf("environment: %v", err)
	}
	return env
}

const docker = `{"provider":"docker","image":"r.example/app@sha256:aa"}`

// holds notes for which leases a server said that it holds them, and let them go.
type holds struct {
	*leasing.Service
	mu         sync.Mutex
	held, left []uuid.UUID
}

func (h *holds) Hold(id uuid.UUID) {
	h.mu.Lock()
	h.held = append(h.held, id)
	h.mu.Unlock()
	h.Service.Hold(id)
}

func (h *holds) LetGo(id uuid.UUID) {
	h.mu.Lock()
	h.left = append(h.left, id)
	h.mu.Unlock()
	h.Service.LetGo(id)
}

func (h *holds) seen() (held, left []uuid.UUID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.held), slices.Clone(h.left)
}
