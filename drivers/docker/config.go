package docker

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"

	"berth/environment"
)

// Defaults of a config.
const (
	defaultSocket    = "/var/run/docker.sock"
	defaultWorkspace = "/workspace"
	defaultPids      = 512
	defaultNetwork   = "bridge"
	pullMissing      = "missing"
	pullAlways       = "always"
	pullNever        = "never"
)

// config is what an environment stores. What is left out means the default.
type config struct {
	Provider string `json:"provider"`
	Engine   string `json:"engine,omitempty"`
	Image    string `json:"image"`

	TLSCA         string                 `json:"tlsCA,omitempty"`
	TLSCert       string                 `json:"tlsCert,omitempty"`
	TLSKey        *environment.SecretRef `json:"tlsKeySecretRef,omitempty"`
	SSHKnownHosts string                 `json:"sshKnownHosts,omitempty"`
	SSHPrivateKey *environment.SecretRef `json:"sshPrivateKeySecretRef,omitempty"`
	SSHPassphrase *environment.SecretRef `json:"sshPassphraseSecretRef,omitempty"`
	SSHPassword   *environment.SecretRef `json:"sshPasswordSecretRef,omitempty"`

	RegistryUsername string                 `json:"registryUsername,omitempty"`
	RegistryPassword *environment.SecretRef `json:"registryPasswordSecretRef,omitempty"`
	Pull             string                 `json:"pull,omitempty"`
	Platform         string                 `json:"platform,omitempty"`

	CPUs      float64 `json:"cpus,omitempty"`
	MemoryMiB int64   `json:"memoryMiB,omitempty"`
	Pids      int64   `json:"pids,omitempty"`
	DiskMiB   int64   `json:"diskMiB,omitempty"`
	ShmMiB    int64   `json:"shmMiB,omitempty"`

	Network       string            `json:"network,omitempty"`
	ReadOnlyRoot  bool              `json:"readOnlyRoot,omitempty"`
	WorkspacePath string            `json:"workspacePath,omitempty"`
	WorkspaceMiB  int64             `json:"workspaceMiB,omitempty"`
	User          string            `json:"user,omitempty"`
	Runtime       string            `json:"runtime,omitempty"`
	Labels        map[string]string `json:"labels,omitempty"`
	Env           map[string]string `json:"env,omitempty"`
	RequiredTools []string          `json:"requiredTools,omitempty"`

	StartupTimeoutSec int64  `json:"startupTimeoutSec,omitempty"`
	ReuseLease        bool   `json:"reuseLease,omitempty"`
	LeasePolicy       string `json:"leasePolicy,omitempty"`
	RetainSec         int64  `json:"retainSec,omitempty"`
	ArchiveOnRelease  bool   `json:"archiveOnRelease,omitempty"`
}

// secretFields are the names under which a request sends secrets, each with the
// config key of its reference.
func secretFields() map[string]string {
	return map[string]string{
		"tlsKey": "tlsKeySecretRef", "sshPrivateKey": "sshPrivateKeySecretRef", "sshPassphrase": "sshPassphraseSecretRef",
		"sshPassword": "sshPasswordSecretRef", "registryPassword": "registryPasswordSecretRef",
	}
}

// readConfig reads a stored config.
func readConfig(raw json.RawMessage) (config, error) {
	var c config
	if len(raw) == 0 {
		return c, nil
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, environment.Invalid("validation_failed", "The stored settings of this environment cannot be read.").Because(err)
	}
	return c, nil
}

func (c config) pull() string      { return cmp.Or(c.Pull, pullMissing) }
func (c config) workspace() string { return cmp.Or(c.WorkspacePath, defaultWorkspace) }

func (c config) endpoint() endpoint {
	e, _ := parseEngine(c.Engine) // a stored one was checked; another cannot be dialled
	return e
}

// localImage is the name of an image by its own id, which no registry knows.
var localImage = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// imageRef is an image as it is asked for.
type imageRef struct {
	environment.Image
	ID string // of an image that is named by its id; the rest is then empty but for Text
}

// image reads the configured image.
func (c config) image() (imageRef, error) {
	r, problem := parseImage(c.Image)
	if problem != "" {
		return r, environment.InvalidFields([]environment.FieldError{{Field: "config.image", Message: problem}})
	}
	return r, nil
}

func parseImage(text string) (imageRef, string) {
	if localImage.MatchString(text) {
		return imageRef{Image: environment.Image{Text: text}, ID: text}, ""
	}
	i, problem := environment.ParseImage(text)
	return imageRef{Image: i}, problem
}

// name is the repository with its registry.
func (r imageRef) name() string {
	if r.ID != "" {
		return ""
	}
	return r.Registry + "/" + r.Repository
}

// wire is what an engine is asked for: the digest decides, where there is one.
func (r imageRef) wire() string {
	switch {
	case r.ID != "":
		return r.ID
	case r.Digest != "":
		return r.name() + "@" + r.Digest
	}
	return fmt.Sprintf("%s:%s", r.name(), cmp.Or(r.Tag, "latest"))
}

// Selected reads the chosen image's identity out of a config.
func (d *Driver) Selected(raw json.RawMessage) (environment.ImageIdentity, string, bool) {
	c, err := readConfig(raw)
	if err != nil || c.Image == "" {
		return environment.ImageIdentity{}, environment.QualDefaultImage, false
	}
	r, err := c.image()
	if err != nil {
		return environment.ImageIdentity{Reference: c.Image}, environment.QualMutableImage, false
	}
	identity := environment.ImageIdentity{Reference: r.Text, Repository: r.name()}
	switch {
	case r.ID != "":
		identity.Kind, identity.ImageID = environment.ImageLocal, r.ID
	case r.Pinned():
		identity.Kind, identity.Digest = environment.ImageDigest, r.Digest
	default:
		return identity, environment.QualMutableImage, false
	}
	return identity, "", true
}
