package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"berth/environment"
	"berth/environment/configschema"

	"github.com/google/uuid"
)

var (
	_ environment.Provided   = (*scriptedSandbox)(nil)
	_ environment.Schemer    = (*scriptedSandbox)(nil)
	_ environment.Budgeter   = (*scriptedSandbox)(nil)
	_ environment.Configurer = (*scriptedSandbox)(nil)
	_ environment.Prober     = (*scriptedSandbox)(nil)
	_ environment.Execer     = (*scriptedSandbox)(nil)
	_ environment.Resumer    = (*scriptedSandbox)(nil)
	_ environment.Identifier = (*scriptedSandbox)(nil)
	_ environment.Lister     = (*scriptedSandbox)(nil)
	_ environment.Describer  = (*scriptedSandbox)(nil)
)

// The one image that the scripted engine has.
const (
	scriptedDigest = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	scriptedID     = "sha256:2222222222222222222222222222222222222222222222222222222222222222"
)

// scriptedSandbox is a provider called docker that does what a test says, and
// counts what it has made.
type scriptedSandbox struct {
	mu       sync.Mutex
	there    map[string]environment.Held // by provider id
	acquired int
	refusal  error         // of the next releases; nil: they go through
	hold     chan struct{} // a release waits until it is closed; nil: it does not
	holding  chan struct{} // told when a release waits
	gate     chan struct{} // commands end when it is closed
	once     sync.Once
}

func newScriptedSandbox() *scriptedSandbox {
	return &scriptedSandbox{there: map[string]environment.Held{}, holding: make(chan struct{}, 10), gate: make(chan struct{})}
}

func (d *scriptedSandbox) open() { d.once.Do(func() { close(d.gate) }) }

func (d *scriptedSandbox) Name() string     { return environment.DriverSandbox }
func (d *scriptedSandbox) Provider() string { return environment.ProviderDocker }

func (d *scriptedSandbox) Schema() json.RawMessage {
	return json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Docker","description":"Containers of an engine.",
	"type":"object","additionalProperties":false,"required":["image"],"properties":{
	"provider":{"const":"docker"},
	"image":{"type":"string","title":"Image","x-order":1,"x-role":"image"},
	"engine":{"type":"string","title":"Engine","x-order":2},
	"memoryMiB":{"type":"integer","title":"Memory","minimum":16,"x-unit":"MiB","x-role":"runtime","x-order":3},
	"reuseLease":{"type":"boolean","title":"Reuse","x-role":"runtime","x-order":4},
	"labels":{"type":"object","title":"Labels","additionalProperties":{"type":"string"},"x-role":"runtime","x-order":5},
	"requiredTools":{"type":"array","title":"Tools","items":{"type":"string"},"x-role":"runtime","x-order":6},
	"registryUsername":{"type":"string","title":"User","x-role":"account","x-order":7},
	"registryPassword":{"type":"string","format":"secret-ref","title":"Password","x-role":"account","x-order":8}}}`)
}

func (d *scriptedSandbox) StartupBudget(json.RawMessage) time.Duration { return 2 * time.Minute }

func (d *scriptedSandbox) Configure(in environment.ConfigInput) (environment.ConfigOutput, error) {
	out := environment.ConfigOutput{Secrets: map[string]environment.Secret{}, SecretFields: map[string]string{"registryPassword": "registryPasswordSecretRef"}}
	schema, err := configschema.Parse(d.Schema())
	if err != nil {
		return out, err
	}
	if err := environment.InvalidFields(schema.Validate(in.Config)); err != nil {
		return out, err
	}
	stored := maps.Clone(in.Config)
	var text string
	if json.Unmarshal(stored["registryPassword"], &text) == nil && text != "" {
		out.Secrets["registryPassword"] = environment.NewSecret(text)
	}
	delete(stored, "registryPassword")
	out.Config, err = json.Marshal(stored)
	return out, err
}

func (d *scriptedSandbox) image(config json.RawMessage) environment.ImageIdentity {
	var c struct {
		Image string `json:"image"`
	}
	_ = json.Unmarshal(config, &c) // Configure has read it
	repository, _, _ := strings.Cut(c.Image, "@")
	return environment.ImageIdentity{Kind: environment.ImageDigest, Reference: c.Image, Repository: repository, Digest: scriptedDigest, ImageID: scriptedID}
}

func (d *scriptedSandbox) Selected(config json.RawMessage) (environment.ImageIdentity, string, bool) {
	image := d.image(config)
	if !strings.HasSuffix(image.Reference, "@"+scriptedDigest) {
		return environment.ImageIdentity{}, environment.QualMutableImage, false
	}
	image.ImageID = ""
	return image, "", true
}

func (d *scriptedSandbox) Identity(_ context.Context, ref environment.Ref) (environment.ImageIdentity, error) {
	return d.image(ref.Config), nil
}

func (d *scriptedSandbox) Describe(config json.RawMessage) string {
	return "docker: " + d.image(config).Reference
}

func (d *scriptedSandbox) Acquire(_ context.Context, spec environment.Spec) (environment.Ref, error) {
	for _, name := range []string{"engine", "image", "create", "start"} {
		spec.Tell(environment.Stage{Name: name, Status: environment.StageRunning})
		spec.Tell(environment.Stage{Name: name, Status: environment.StageOK})
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.acquired++
	id := "c-" + spec.IdempotencyKey
	d.there[id] = environment.Held{ProviderID: id, LeaseKey: spec.IdempotencyKey, CreatedAt: time.Now(), Running: true}
	image := d.image(spec.Config)
	return environment.Ref{Driver: environment.DriverSandbox, Provider: environment.ProviderDocker, ProviderID: id, Dir: "/workspace",
		Host: environment.HostFacts{Name: "zebra-container", BootID: id}, Config: spec.Config, ProviderVersion: "27.0",
		LeaseKey: spec.IdempotencyKey, InstanceID: spec.InstanceID, Image: &image, Spec: spec}, nil
}

func (d *scriptedSandbox) Resume(_ context.Context, ref environment.Ref, _ environment.Spec) (environment.Ref, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, is := d.there[ref.ProviderID]; !is {
		return environment.Ref{}, environment.NewError(environment.KindNotFound, environment.CodeSandboxGone, "It is gone.")
	}
	return ref, nil
}

func (d *scriptedSandbox) Release(ctx context.Context, ref environment.Ref, how environment.Disposition) (environment.Receipt, error) {
	d.mu.Lock()
	hold, refusal := d.hold, d.refusal
	d.mu.Unlock()
	if hold != nil {
		d.holding <- struct{}{}
		select {
		case <-hold:
		case <-ctx.Done():
			return environment.Receipt{}, context.Cause(ctx)
		}
	}
	if refusal != nil {
		return environment.Receipt{}, refusal
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	receipt := environment.Receipt{Outcome: "destroyed", ProviderID: ref.ProviderID, At: time.Now()}
	if how == environment.StopAndRetain {
		receipt.Outcome = "stopped"
		return receipt, nil
	}
	delete(d.there, ref.ProviderID)
	return receipt, nil
}

// refuse makes releases fail with a code; "" lets them through again.
func (d *scriptedSandbox) refuse(code string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refusal = nil; code != "" {
		d.refusal = environment.Unavailable(code, "The engine does not answer.")
	}
}

// slow makes releases wait until the returned function is called.
func (d *scriptedSandbox) slow() (goOn func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	hold := make(chan struct{})
	d.hold = hold
	return sync.OnceFunc(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.hold = nil
		close(hold)
	})
}

// held is how many sandboxes there are, and how many were ever made.
func (d *scriptedSandbox) held() (now, ever int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.there), d.acquired
}

func (d *scriptedSandbox) Place(json.RawMessage) string { return "engine" }

func (d *scriptedSandbox) List(context.Context, environment.Spec) ([]environment.Held, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Values(d.there)), nil
}

func (d *scriptedSandbox) Probe(_ context.Context, spec environment.Spec, report func(environment.Stage)) environment.ProbeResult {
	result := environment.ProbeResult{OK: true, Summary: "The image is there."}
	for _, name := range environment.DockerStages() {
		stage := environment.Stage{Name: name, Status: environment.StageSkipped}
		if name == "engine" || name == "image" {
			stage.Status = environment.StageOK
		}
		report(stage)
		result.Stages = append(result.Stages, stage)
	}
	image := d.image(spec.Config)
	result.Image = &image
	return result
}

// answered is what a look into the sandbox answers.
const answered = "berth:begin=1\nberth:workspace=ok\nberth:system=Linux\nberth:machine=x86_64\nberth:getconf=glibc 2.36\nberth:end=1\n"

func (d *scriptedSandbox) Exec(ctx context.Context, ref environment.Ref, x environment.Exec) (environment.ExecResult, error) {
	if err := x.OnStart(environment.Process{Pid: 7, Marker: x.Marker}, ref.Host, "/workspace"); err != nil {
		return environment.ExecResult{}, err
	}
	if slices.Contains(x.Argv, "berth-probe") {
		return environment.ExecResult{Ended: "exit", Proven: true}, x.Output(environment.Stdout, 0, []byte(answered))
	}
	select {
	case <-d.gate:
	case <-x.Stop:
		return environment.ExecResult{ExitCode: 143, Signal: "TERM", Ended: "stopped", Proven: true}, nil
	case <-ctx.Done():
		return environment.ExecResult{}, context.Cause(ctx)
	}
	err := x.Output(environment.Stdout, 0, []byte("zebra-container\n"))
	result := environment.ExecResult{Ended: "exit", Proven: true}
	if x.Settle != nil {
		err = errors.Join(err, x.Settle(result))
	}
	return result, err
}

// unknownID names nothing.
func unknownID() string { return uuid.NewString() }
