package example

import (
	"berth/environment"
	"encoding/json"
)

// Digest is a whole digest that nobody has to believe.
const Digest = "sha256:9f2c41d0b7a2c0de5f1e3a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b0c9d"

// PinnedImage and TaggedImage name one image, for good and by a name.
const (
	PinnedImage = "registry.example.net:5000/team/py@" + Digest
	TaggedImage = "registry.example.net:5000/team/py:3.13"
)

// SandboxCapabilities are those of the drivers that ship, with both sandbox
// providers; the fake one is not to be used here.
func SandboxCapabilities() []environment.Capabilities {
	return append(Capabilities(), DockerCapabilities(), environment.Capabilities{
		Driver: environment.DriverSandbox, Provider: environment.ProviderFake, DisplayName: "Fake", Configure: true, Probe: true, Exec: true, Files: true, Resume: true,
		Unsupported: "The fake provider is for trying Berth out. Start the server with --dev to use it.",
	})
}

// DockerCapabilities are Docker's: everything but set-up by hand and capture.
func DockerCapabilities() environment.Capabilities {
	return environment.Capabilities{Driver: environment.DriverSandbox, Provider: environment.ProviderDocker, DisplayName: "Docker", Configure: true, Probe: true,
		Exec: true, Files: true, Resume: true, Shell: true, DeleteImage: true, Identify: true, List: true, StartupBudgetMs: 120_000}
}

// DockerFields are a part of Docker's settings: one of each kind.
func DockerFields() []environment.ConfigField {
	least, most := 16.0, 4194304.0
	text := func(name, title, help string) environment.ConfigField {
		return environment.ConfigField{Name: name, Title: title, Help: help, Type: "string"}
	}
	image := text("image", "Image", "What a sandbox is made from. With a digest it always is the same content.")
	image.Placeholder, image.Role, image.Required, image.MaxLength = "registry.example/team/app:1.2", "image", true, 512
	network := text("network", "Network", "bridge lets a sandbox reach out; none cuts it off.")
	network.Default = json.RawMessage(`"bridge"`)
	user := text("registryUsername", "User name", "For the image's own registry.")
	user.Group, user.Role = "registry", "account"
	password := text("registryPassword", "Password or token", "Best a token that may only pull.")
	password.Group, password.Role, password.Secret = "registry", "account", true
	engine := text("engine", "Engine", "Address of the engine. Empty: the socket of the server's machine.")
	engine.Group, engine.Placeholder = "engine", "unix:///var/run/docker.sock"
	authority := text("tlsCA", "Certificate authority", "For tcp://: PEM of who signed the engine's certificate.")
	authority.Group, authority.Multiline, authority.Placeholder = "engine", true, "-----BEGIN CERTIFICATE-----"
	return []environment.ConfigField{
		image, network,
		{Name: "reuseLease", Title: "Keep the sandbox between runs", Help: "A sandbox is stopped after a run and started again for the next.", Type: "boolean", Default: json.RawMessage("false"), Role: "runtime"},
		user, password,
		{Name: "pull", Title: "Pull", Type: "string", Group: "registry", Default: json.RawMessage(`"missing"`), Options: []environment.ConfigOption{
			{Value: "missing", Label: "When the engine does not have it"}, {Value: "always", Label: "Before each start"}, {Value: "never", Label: "Never"}}},
		engine, authority,
		{Name: "memoryMiB", Title: "Memory", Help: "Unset: no limit.", Type: "integer", Unit: "MiB", Group: "limits", Minimum: &least, Role: "runtime"},
		{Name: "pids", Title: "Processes", Help: "How many there may be at once.", Type: "integer", Group: "limits", Minimum: &least, Maximum: &most, Default: json.RawMessage("512")},
		{Name: "startupTimeoutSec", Title: "Startup time", Help: "How long it may take until a sandbox can be used.", Type: "integer", Unit: "s", Group: "limits", Default: json.RawMessage("120")},
		{Name: "env", Title: "Variables", Help: "Set for every process of a sandbox.", Type: "map", Group: "advanced"},
		{Name: "requiredTools", Title: "Required tools", Help: "One on each line.", Type: "list", Group: "advanced"},
		{Name: "shell", Title: "Shell", Type: "union", Group: "advanced", Variants: []environment.ConfigVariant{
			{Title: "A path", Field: environment.ConfigField{Type: "string"}}, {Title: "A command with arguments", Field: environment.ConfigField{Type: "list"}}}},
	}
}

// Budget is that of the team's engine.
func Budget() *environment.Budget {
	return &environment.Budget{AccountLabel: "team-a engine", MaxLeases: 4, LeaseMinutesPerDay: 240, Note: "Ask dana before raising it."}
}

// Usage is what of it is used; UsedUp all of it.
func Usage() environment.Usage  { return environment.Usage{ActiveLeases: 1, MinutesToday: 37.4} }
func UsedUp() environment.Usage { return environment.Usage{ActiveLeases: 4, MinutesToday: 118} }

func sandboxView(n byte, name, config string, last *environment.Probe) environment.EnvironmentView {
	v := sshView(n, name, last)
	v.Driver, v.Config = environment.DriverSandbox, json.RawMessage(config)
	return v
}

// ReadySandbox is py-sandbox: pinned, tested, qualified, with a budget.
func ReadySandbox() environment.EnvironmentView {
	v := sandboxView(20, "py-sandbox", `{"provider":"docker","image":"`+PinnedImage+`","reuseLease":true,"memoryMiB":512,"env":{"LANG":"C.UTF-8"},"requiredTools":["git","python3"]}`,
		pointer(QualifiedProbe()))
	v.Budget, v.Uses = Budget(), environment.Uses{ActiveLeases: 1, Retained: 2, Runs: 31}
	v.EnvVars = map[string]environment.EnvVar{"STAGE": {Type: "plain", Value: "test"}}
	return v
}

// TaggedSandbox is ready, and its image is named by a tag.
func TaggedSandbox() environment.EnvironmentView {
	p := QualifiedProbe()
	p.Image.Reference = TaggedImage
	p.Qualification = NotRecorded(environment.QualMutableImage)
	return sandboxView(21, "node-latest", `{"provider":"docker","image":"`+TaggedImage+`"}`, &p)
}

// UntestedSandbox was never tested.
func UntestedSandbox() environment.EnvironmentView {
	return sandboxView(22, "fresh-sandbox", `{"provider":"docker","image":"`+TaggedImage+`"}`, nil)
}

// TestingSandbox waits for its container.
func TestingSandbox() environment.EnvironmentView {
	v := sandboxView(23, "slow-sandbox", `{"provider":"docker","image":"`+PinnedImage+`"}`, pointer(QualifiedProbe()))
	v.Active = pointer(RunningSandboxProbe(3))
	v.Active.EnvironmentID = &v.ID
	return v
}

// FakeSandbox is of a provider that is not to be used here.
func FakeSandbox() environment.EnvironmentView {
	return sandboxView(24, "demo-sandbox", `{"provider":"fake","image":"debian:12"}`, nil)
}

// ManagedSandbox is the one that the instance's configuration provisions.
func ManagedSandbox() environment.EnvironmentView {
	v := ReadySandbox()
	v.ID, v.Name, v.Managed, v.Provisioned = id(0x03, 25), "managed-sandbox", true, true
	return v
}
