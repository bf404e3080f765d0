package handlers

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"berth/environment"
)

var (
	_ environment.Driver         = (*scriptedSSH)(nil)
	_ environment.Configurer     = (*scriptedSSH)(nil)
	_ environment.Prober         = (*scriptedSSH)(nil)
	_ environment.Execer         = (*scriptedSSH)(nil)
	_ environment.Filer          = (*scriptedSSH)(nil)
	_ environment.HostKeyScanner = (*scriptedSSH)(nil)
	_ environment.KeyTool        = (*scriptedSSH)(nil)
)

// scriptedSSH is a driver that does what a test says.
type scriptedSSH struct {
	gate   chan struct{} // probes and commands end when it is closed
	once   sync.Once
	output []piece
	order  atomic.Pointer[environment.Exec] // the last one
}

type piece struct {
	stream environment.Stream
	data   string
}

func newScriptedSSH() *scriptedSSH { return &scriptedSSH{gate: make(chan struct{})} }

func (d *scriptedSSH) open() { d.once.Do(func() { close(d.gate) }) }

func (d *scriptedSSH) Name() string { return environment.DriverSSH }

func (d *scriptedSSH) Acquire(_ context.Context, spec environment.Spec) (environment.Ref, error) {
	return environment.Ref{Driver: "ssh", Provider: "ssh", ProviderID: "ssh://box", Dir: "/work", Config: spec.Config, Spec: spec,
		Host: environment.HostFacts{Name: "box", BootID: "boot"}}, nil
}

func (d *scriptedSSH) Release(_ context.Context, ref environment.Ref, _ environment.Disposition) (environment.Receipt, error) {
	return environment.Receipt{Outcome: "released", ProviderID: ref.ProviderID, At: time.Now()}, nil
}

func (d *scriptedSSH) Configure(in environment.ConfigInput) (environment.ConfigOutput, error) {
	out := environment.ConfigOutput{Secrets: map[string]environment.Secret{}, SecretFields: environment.SSHSecretFields()}
	stored := map[string]json.RawMessage{}
	for key, value := range in.Config {
		if _, isSecret := out.SecretFields[key]; !isSecret {
			stored[key] = value
			continue
		}
		var text string
		if json.Unmarshal(value, &text) == nil && text != "" {
			out.Secrets[key] = environment.NewSecret(text)
		}
	}
	if stored["host"] == nil {
		return out, environment.InvalidFields([]environment.FieldError{{Field: "config.host", Message: "Enter a host name or an address."}})
	}
	var err error
	out.Config, err = json.Marshal(stored)
	return out, err
}

func (d *scriptedSSH) Probe(ctx context.Context, _ environment.Spec, report func(environment.Stage)) environment.ProbeResult {
	stage := environment.Stage{Name: "resolve", Status: environment.StageRunning}
	report(stage)
	select {
	case <-d.gate:
	case <-ctx.Done():
	}
	stage.Status = environment.StageOK
	report(stage)
	return environment.ProbeResult{OK: true, Summary: "box is ready", Stages: []environment.Stage{stage}}
}

func (d *scriptedSSH) Exec(ctx context.Context, ref environment.Ref, x environment.Exec) (environment.ExecResult, error) {
	if err := x.OnStart(environment.Process{Pid: 7, Marker: x.Marker}, ref.Host, "/work"); err != nil {
		return environment.ExecResult{}, err
	}
	d.order.Store(&x)
	at := map[environment.Stream]int64{}
	for _, p := range d.output {
		if err := x.Output(p.stream, at[p.stream], []byte(p.data)); err != nil {
			return environment.ExecResult{}, err
		}
		at[p.stream] += int64(len(p.data))
	}
	select {
	case <-d.gate:
	case <-x.Stop:
		return environment.ExecResult{ExitCode: 143, Signal: "TERM", Ended: "stopped", Proven: true}, nil
	case <-ctx.Done():
		return environment.ExecResult{}, context.Cause(ctx)
	}
	return environment.ExecResult{ExitCode: 3, Ended: "exit", Proven: true}, nil
}

func (d *scriptedSSH) Read(_ context.Context, _ environment.Ref, path string) (environment.WorkspaceEntry, error) {
	if path == "" {
		return environment.WorkspaceEntry{IsDir: true, Entries: []environment.FileInfo{{Name: "a.bin", Path: "a.bin", Type: "file", Size: 5, ModTime: time.Unix(1700000000, 0)}}}, nil
	}
	return environment.WorkspaceEntry{Path: path, Content: []byte("a\x00b\xffc"), Size: 5}, nil
}

func (d *scriptedSSH) ScanHostKeys(context.Context, environment.Spec) ([]environment.HostKey, error) {
	return []environment.HostKey{{Type: "ssh-ed25519", Fingerprint: "SHA256:abc", KnownHostsLine: "box.test ssh-ed25519 AAAA"}}, nil
}

func (d *scriptedSSH) GenerateKey(string) (environment.Secret, environment.KeyFacts, error) {
	return environment.NewSecret("PRIVATE"), environment.KeyFacts{Type: "ssh-ed25519", PublicKey: "ssh-ed25519 AAAA"}, nil
}

func (d *scriptedSSH) InspectKey(environment.Secret, environment.Secret) (environment.KeyFacts, error) {
	return environment.KeyFacts{Type: "ssh-ed25519"}, nil
}

func (d *scriptedSSH) ReadClientConfig(string) (map[string]any, []string, error) {
	return map[string]any{"host": "box.test"}, nil, nil
}

// driverTable is a registry.
type driverTable map[environment.DriverKey]environment.Driver

func (i driverTable) Driver(key environment.DriverKey) (environment.Driver, bool) {
	d, ok := i[key]
	return d, ok
}

func (i driverTable) Capabilities() []environment.Capabilities {
	names := map[environment.DriverKey]string{
		{Driver: environment.DriverLocal}: "Local", {Driver: environment.DriverSSH}: "SSH", sandboxKey(): "Docker",
	}
	var all []environment.Capabilities
	for key, d := range i {
		all = append(all, environment.CapabilitiesOf(d, names[key]))
	}
	slices.SortFunc(all, func(a, b environment.Capabilities) int { return strings.Compare(a.Key().String(), b.Key().String()) })
	return all
}

// sandboxKey is that of the scripted provider.
func sandboxKey() environment.DriverKey {
	return environment.KeyOf(environment.DriverSandbox, environment.ProviderDocker)
}

type localDriver struct{}

func (localDriver) Name() string { return environment.DriverLocal }

func (localDriver) Acquire(context.Context, environment.Spec) (environment.Ref, error) {
	return environment.Ref{Driver: "local"}, nil
}

func (localDriver) Release(context.Context, environment.Ref, environment.Disposition) (environment.Receipt, error) {
	return environment.Receipt{Outcome: "released"}, nil
}

func (localDriver) Configure(environment.ConfigInput) (environment.ConfigOutput, error) {
	return environment.ConfigOutput{Config: json.RawMessage("{}")}, nil
}
