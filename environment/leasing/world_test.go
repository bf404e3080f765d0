package leasing_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// object is a sandbox in the world.
type object struct {
	id, key  string
	instance uuid.UUID
	running  bool
	created  time.Time
}

// world is what a provider holds, whoever asks.
type world struct {
	mu      sync.Mutex
	objects map[string]*object
	made    map[string]int // objects ever, by the lease's label
	count   int
	// touched, unless nil, is told before an object is stopped or destroyed.
	touched func(o object, how environment.Disposition)
}

func newWorld() *world { return &world{objects: map[string]*object{}, made: map[string]int{}} }

// put adds an object as a provider would.
func (w *world) put(instance uuid.UUID, key string, running bool) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.putLocked(instance, key, running)
}

func (w *world) putLocked(instance uuid.UUID, key string, running bool) string {
	w.count++
	id := fmt.Sprintf("c%d", w.count)
	w.objects[id] = &object{id: id, key: key, instance: instance, running: running, created: time.Now()}
	w.made[key]++
	return id
}

// drop takes an object away, as somebody else would.
func (w *world) drop(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.objects, id)
}

// ids are what there is of an installation, in order.
func (w *world) ids(instance uuid.UUID) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(w.objects)) {
		if w.objects[id].instance == instance {
			ids = append(ids, id)
		}
	}
	return ids
}

func (w *world) running(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	o, ok := w.objects[id]
	return ok && o.running
}

// fate is what befalls one call: an error instead of it, or one after it.
type fate struct{ instead, after error }

// gate stands before every call of a server to its suppliers.
type gate func(ctx context.Context, call string) fate

func open(context.Context, string) fate { return fate{} }

// sandboxes is a driver of the world, as one server has it.
type sandboxes struct {
	w      *world
	gate   gate
	budget time.Duration
	// lie changes what a release says.
	lie   func(*environment.Receipt)
	stage string // in which it says that it failed
	give  string // what it gives instead of something new
	rude  bool   // it goes on for who has gone
	// late is when an object comes whose making was given up; 0: at once, or never.
	late func() time.Duration
}

func (*sandboxes) Name() string     { return environment.DriverSandbox }
func (*sandboxes) Provider() string { return environment.ProviderDocker }
func (d *sandboxes) StartupBudget(json.RawMessage) time.Duration {
	return d.budget
}

func (*sandboxes) Place(config json.RawMessage) string {
	var c struct{ Engine string }
	_ = json.Unmarshal(config, &c)
	return c.Engine
}

func (d *sandboxes) enter(ctx context.Context, call string) fate {
	f := d.gate(ctx, call)
	if f.instead == nil && ctx.Err() != nil && !d.rude {
		f.instead = ctx.Err() // a provider does nothing for who has gone
	}
	return f
}

func (d *sandboxes) Acquire(ctx context.Context, spec environment.Spec) (environment.Ref, error) {
	f := d.enter(ctx, "driver.Acquire")
	if d.stage != "" {
		spec.Tell(environment.Stage{Name: d.stage, Status: environment.StageFailed})
	}
	if f.instead != nil {
		if d.late != nil {
			if wait := d.late(); wait > 0 {
				time.AfterFunc(wait, func() { d.w.make(spec) })
			}
		}
		return environment.Ref{}, f.instead
	}
	if d.give != "" {
		return environment.Ref{ProviderID: d.give}, nil
	}
	id := d.w.make(spec)
	if f.after != nil {
		return environment.Ref{}, f.after
	}
	return environment.Ref{ProviderID: id, Dir: "/workspace", ProviderVersion: "20.10"}, nil
}

// make is idempotent by its label.
func (w *world) make(spec environment.Spec) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, o := range w.objects {
		if o.key == spec.IdempotencyKey && o.instance == spec.InstanceID {
			return id
		}
	}
	return w.putLocked(spec.InstanceID, spec.IdempotencyKey, true)
}

func (d *sandboxes) Resume(ctx context.Context, ref environment.Ref, _ environment.Spec) (environment.Ref, error) {
	f := d.enter(ctx, "driver.Resume")
	if f.instead != nil {
		return environment.Ref{}, f.instead
	}
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	o, ok := d.w.objects[ref.ProviderID]
	if !ok || o.instance != ref.InstanceID {
		return environment.Ref{}, environment.NewError(environment.KindNotFound, environment.CodeSandboxGone, "There is no such container.")
	}
	o.running = true
	if f.after != nil {
		return environment.Ref{}, f.after
	}
	return environment.Ref{ProviderID: o.id, Dir: "/workspace", LeaseKey: o.key}, nil
}

func (d *sandboxes) Release(ctx context.Context, ref environment.Ref, how environment.Disposition) (environment.Receipt, error) {
	f := d.enter(ctx, "driver.Release")
	if f.instead != nil {
		return environment.Receipt{}, f.instead
	}
	receipt := d.w.release(ref, how)
	if d.lie != nil {
		d.lie(&receipt)
	}
	return receipt, f.after
}

func (w *world) release(ref environment.Ref, how environment.Disposition) environment.Receipt {
	w.mu.Lock()
	defer w.mu.Unlock()
	receipt := environment.Receipt{Outcome: "gone", ProviderID: ref.ProviderID}
	for id, o := range w.objects {
		if o.instance != ref.InstanceID || ref.ProviderID != "" && id != ref.ProviderID || ref.ProviderID == "" && o.key != ref.LeaseKey {
			continue
		}
		if w.touched != nil {
			w.touched(*o, how)
		}
		receipt.ProviderID = id
		if how == environment.StopAndRetain {
			o.running, receipt.Outcome = false, "stopped"
			continue
		}
		delete(w.objects, id)
		receipt.Outcome = "destroyed"
	}
	return receipt
}

// placeKey is under which a gate finds the place that is listed.
type placeKey struct{}

func (d *sandboxes) List(ctx context.Context, spec environment.Spec) ([]environment.Held, error) {
	f := d.enter(context.WithValue(ctx, placeKey{}, d.Place(spec.Config)), "driver.List")
	if f.instead != nil || f.after != nil {
		return nil, environment.Unavailable(environment.CodeEngineUnreachable, "The engine does not answer.")
	}
	held := []environment.Held{}
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(d.w.objects)) {
		if o := d.w.objects[id]; o.instance == spec.InstanceID {
			held = append(held, environment.Held{ProviderID: id, LeaseKey: o.key, CreatedAt: o.created, Running: o.running})
		}
	}
	return held, nil
}

var (
	_ environment.Resumer  = (*sandboxes)(nil)
	_ environment.Lister   = (*sandboxes)(nil)
	_ environment.Budgeter = (*sandboxes)(nil)
)

// only is a registry with one driver of sandboxes, or without it.
type only struct {
	driver environment.Driver
	gone   *bool
}

func (r only) Driver(key environment.DriverKey) (environment.Driver, bool) {
	return r.driver, key == environment.DriverKey{Driver: environment.DriverSandbox, Provider: environment.ProviderDocker} && (r.gone == nil || !*r.gone)
}
func (only) Capabilities() []environment.Capabilities { return nil }

var errUnreachable = environment.Unavailable(environment.CodeEngineUnreachable, "The engine does not answer.")
