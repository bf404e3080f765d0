package probing_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"berth/environment"
	"berth/environment/catalogue"

	"github.com/google/uuid"
)

const musl = "berth:begin=1\nberth:workspace=ok\nberth:system=Linux\nberth:machine=x86_64\n" +
	"berth:ldd=musl libc (x86_64)\nberth:ldd-next=Version 1.2.4\nberth:end=1\n"

// sandboxDriver makes sandboxes out of nothing and says what a test wants. It has
// whatever it made until that is released.
type sandboxDriver struct {
	mu       sync.Mutex
	live     map[string]bool // by provider id; false: stopped
	made     []environment.Spec
	says     string
	acquire  func(context.Context, environment.Spec) error // before a sandbox is there
	exec     func(context.Context, environment.Exec) (environment.ExecResult, error)
	release  func(context.Context, environment.Ref) (environment.Receipt, error)
	choice   func(environment.ImageIdentity) (environment.ImageIdentity, string, bool)
	identity func(environment.ImageIdentity) (environment.ImageIdentity, error)
	budget   time.Duration
	unusable string // why the pretended provider is
}

func newSandboxes() *sandboxDriver {
	return &sandboxDriver{live: map[string]bool{}, says: musl, budget: environment.DefaultStartupBudget}
}

// blind is a provider that cannot tell what it made a sandbox from.
type blind struct{ *sandboxDriver }

// Identity hides the ability: a method of another shape is none.
func (blind) Identity() {}

func (d *sandboxDriver) set(change func(*sandboxDriver)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

func (d *sandboxDriver) why() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.unusable
}

// held is what the driver still has.
func (d *sandboxDriver) held() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.live)
}

func (d *sandboxDriver) specs() []environment.Spec {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.made
}

func (*sandboxDriver) Name() string                                  { return environment.DriverSandbox }
func (*sandboxDriver) Provider() string                              { return environment.ProviderDocker }
func (*sandboxDriver) Describe(json.RawMessage) string               { return "app on docker" }
func (*sandboxDriver) Place(json.RawMessage) string                  { return "here" }
func (d *sandboxDriver) StartupBudget(json.RawMessage) time.Duration { return d.budget }

func imageOf(ref environment.Ref) environment.ImageIdentity { return *ref.Image }

func chosen() environment.ImageIdentity {
	return environment.ImageIdentity{Kind: environment.ImageDigest, Reference: "r.example/app@sha256:aa", Repository: "app", Digest: "sha256:aa"}
}

func (d *sandboxDriver) Acquire(ctx context.Context, spec environment.Spec) (environment.Ref, error) {
	d.mu.Lock()
	acquire := d.acquire
	d.mu.Unlock()
	if acquire != nil {
		if err := acquire(ctx, spec); err != nil {
			return environment.Ref{}, err
		}
	} else {
		for _, name := range environment.DockerStages()[:4] {
			spec.Tell(environment.Stage{Name: name, Status: environment.StageRunning})
			spec.Tell(environment.Stage{Name: name, Status: environment.StageOK})
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	id := fmt.Sprintf("box-%d", len(d.made)+1)
	d.made, d.live[id] = append(d.made, spec), true
	image := chosen()
	image.ImageID = "sha256:bb"
	return environment.Ref{Driver: environment.DriverSandbox, Provider: environment.ProviderDocker, ProviderID: id, Dir: "/workspace", Config: spec.Config,
		Host: environment.HostFacts{Name: "0123456789ab", BootID: id}, ProviderVersion: "20.10.24", LeaseKey: spec.IdempotencyKey, InstanceID: spec.InstanceID, Image: &image}, nil
}

func (d *sandboxDriver) Release(ctx context.Context, ref environment.Ref, how environment.Disposition) (environment.Receipt, error) {
	d.mu.Lock()
	release := d.release
	d.mu.Unlock()
	if release != nil {
		if receipt, err := release(ctx, ref); err != nil || receipt.Outcome != "" {
			return receipt, err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, spec := range d.made { // the answer of its making never came
		if ref.ProviderID == "" && spec.IdempotencyKey == ref.LeaseKey {
			ref.ProviderID = fmt.Sprintf("box-%d", i+1)
		}
	}
	receipt := environment.Receipt{Outcome: "gone", ProviderID: ref.ProviderID}
	if _, there := d.live[ref.ProviderID]; there {
		if receipt.Outcome = "destroyed"; how == environment.StopAndRetain {
			receipt.Outcome, d.live[ref.ProviderID] = "stopped", false
			return receipt, nil
		}
	}
	delete(d.live, ref.ProviderID)
	return receipt, nil
}

func (d *sandboxDriver) Resume(_ context.Context, ref environment.Ref, spec environment.Spec) (environment.Ref, error) {
	ref.Spec = spec
	return ref, nil
}

func (d *sandboxDriver) Exec(ctx context.Context, _ environment.Ref, x environment.Exec) (environment.ExecResult, error) {
	d.mu.Lock()
	run, says := d.exec, d.says
	d.mu.Unlock()
	if run != nil {
		return run(ctx, x)
	}
	if err := x.Output(environment.Stdout, 0, []byte(says)); err != nil {
		return environment.ExecResult{}, err
	}
	return environment.ExecResult{Ended: "exit", Proven: true}, nil
}

func (d *sandboxDriver) Probe(_ context.Context, _ environment.Spec, report func(environment.Stage)) environment.ProbeResult {
	report(environment.Stage{Name: "engine", Status: environment.StageOK})
	report(environment.Stage{Name: "image", Status: environment.StageOK})
	image := chosen()
	return environment.ProbeResult{OK: true, Summary: "The engine answers and has the image.", Image: &image}
}

func (d *sandboxDriver) Selected(json.RawMessage) (environment.ImageIdentity, string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.choice != nil {
		return d.choice(chosen())
	}
	return chosen(), "", true
}

func (d *sandboxDriver) Identity(_ context.Context, ref environment.Ref) (environment.ImageIdentity, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.identity != nil {
		return d.identity(imageOf(ref))
	}
	return imageOf(ref), nil
}

// acme is a company on the bed.
func (b *bed) acme() *uuid.UUID {
	b.t.Helper()
	id := environment.NewID()
	if err := b.store.CreateCompany(b.t.Context(), environment.Company{ID: id, Name: id.String()}, environment.Activity{}); err != nil {
		b.t.Fatal(err)
	}
	return &id
}

// box is a saved sandbox, by its config.
func (b *bed) box(config string, change ...func(*environment.Environment)) environment.Environment {
	b.t.Helper()
	env := environment.Environment{ID: environment.NewID(), Name: "box " + environment.NewID().String(), Driver: environment.DriverSandbox,
		Status: environment.StatusActive, Config: json.RawMessage(config)}
	for _, c := range change {
		c(&env)
	}
	env, err := b.store.CreateEnvironment(b.t.Context(), catalogue.Write{Environment: env})
	if err != nil {
		b.t.Fatal(err)
	}
	return env
}

const docker = `{"provider":"docker","image":"r.example/app@sha256:aa"}`

// test starts a saved sandbox's probe for a company.
func (b *bed) test(env environment.Environment, company *uuid.UUID) environment.Probe {
	b.t.Helper()
	p, err := b.Start(b.t.Context(), operator, env.ID, company)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

var errBroken = errors.New("broken")

var (
	_ environment.Identifier = (*sandboxDriver)(nil)
	_ environment.Budgeter   = (*sandboxDriver)(nil)
	_ environment.Resumer    = (*sandboxDriver)(nil)
	_ environment.Execer     = blind{}
)
