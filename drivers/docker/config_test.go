package docker_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/drivers/docker"
	"berth/environment"
	"berth/environment/configschema"
)

func raw(t *testing.T, config settings) map[string]json.RawMessage {
	t.Helper()
	out := map[string]json.RawMessage{}
	for key, value := range config {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		out[key] = text
	}
	return out
}

// configure saves a config with an image; a nil value takes a key away.
func configure(t *testing.T, config settings) (settings, environment.ConfigOutput, error) {
	t.Helper()
	whole := settings{"provider": "docker", "image": "busybox:1"}
	maps.Copy(whole, config)
	out, err := driver(t, docker.Options{}).Configure(environment.ConfigInput{Config: raw(t, whole)})
	if err != nil {
		return nil, out, err
	}
	var saved settings
	if err := json.Unmarshal(out.Config, &saved); err != nil {
		t.Fatal(err)
	}
	return saved, out, nil
}

func fieldsOf(err error) []string {
	e, ok := errors.AsType[*environment.Error](err)
	if !ok {
		return nil
	}
	var fields []string
	for _, f := range e.Fields {
		fields = append(fields, f.Field)
	}
	return fields
}

// TestC42_BadReferencesAreRefusedWhenSaved checks every reference of the case.
func TestC42_BadReferencesAreRefusedWhenSaved(t *testing.T) {
	hex := strings.Repeat("0123456789abcdef", 8)
	for image, says := range map[string]string{
		"Team/App:1": "lower case", "app:" + strings.Repeat("t", 129): "128", "app:": "tag", "app@": "digest", "app:v1+build": "tag",
		"https://registry.test/app:1": "scheme", "app@sha256:abc": "digest", "app@sha256:" + strings.ToUpper(hex[:64]): "digest",
		"team//app": "slash", "a..b": "single", "": "Enter", "sha256:abc": "",
	} {
		_, _, err := configure(t, settings{"image": image})
		if says == "" { // a repository called sha256, with a tag
			if err != nil {
				t.Errorf("%q: %v, want it saved", image, err)
			}
			continue
		}
		if got := fieldsOf(err); !slices.Equal(got, []string{"config.image"}) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v at %v, want an error at config.image that says %q", image, err, got, says)
		}
	}
	for image, want := range map[string]string{
		"app:Latest": "app:Latest", "app:" + strings.Repeat("t", 128): "app:" + strings.Repeat("t", 128), " app:1 ": "app:1",
		"app@sha512:" + hex: "app@sha512:" + hex, "sha256:" + hex[:64]: "sha256:" + hex[:64],
	} {
		if saved, _, err := configure(t, settings{"image": image}); err != nil || saved["image"] != want {
			t.Errorf("%q: got %v, %v, want %q", image, saved["image"], err, want)
		}
	}
}

// TestC39_DigestsKeepTheirForm saves a reference twice and looks what is chosen.
func TestC39_DigestsKeepTheirForm(t *testing.T) {
	digest := "sha256:" + strings.Repeat("ab", 32)
	for _, image := range []string{"registry.test:5000/team/app@" + digest, "registry.test:5000/team/app:1.2@" + digest} {
		saved, out, err := configure(t, settings{"image": image})
		if err != nil || saved["image"] != image {
			t.Fatalf("got %v, %v, want %s", saved["image"], err, image)
		}
		again, _, err := configure(t, saved)
		if err != nil || again["image"] != image || strings.Contains(string(out.Config), ":sha256:") && !strings.Contains(image, "@sha256:") {
			t.Errorf("again: got %v, %v", again["image"], err)
		}
		selected, code, ok := driver(t, docker.Options{}).Selected(out.Config)
		want := environment.ImageIdentity{Kind: environment.ImageDigest, Reference: image, Repository: "registry.test:5000/team/app", Digest: digest}
		if !ok || code != "" || selected != want {
			t.Errorf("selected: got %+v, %q, %v, want %+v", selected, code, ok, want)
		}
	}
	for config, want := range map[string]string{
		`{"image":"app:1"}`: environment.QualMutableImage, `{"image":"app"}`: environment.QualMutableImage, `{}`: environment.QualDefaultImage,
	} {
		if _, code, ok := driver(t, docker.Options{}).Selected(json.RawMessage(config)); ok || code != want {
			t.Errorf("%s: got %q, %v, want %s", config, code, ok, want)
		}
	}
}

func TestConfigureRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		config settings
		field  string
	}{
		"unknown key":              {settings{"imagee": "x"}, "config.imagee"},
		"other provider":           {settings{"provider": "fake"}, "config.provider"},
		"engine without a scheme":  {settings{"engine": "/var/run/docker.sock"}, "config.engine"},
		"relative socket":          {settings{"engine": "unix://docker.sock"}, "config.engine"},
		"http":                     {settings{"engine": "http://host:2375"}, "config.engine"},
		"tcp with a path":          {settings{"engine": "tcp://host:2376/x"}, "config.engine"},
		"port":                     {settings{"engine": "tcp://host:99999"}, "config.engine"},
		"ssh without a user":       {settings{"engine": "ssh://host"}, "config.engine"},
		"password in the address":  {settings{"engine": "ssh://me:secret@host"}, "config.engine"},
		"bad host":                 {settings{"engine": "tcp://ho_st!:1"}, "config.engine"},
		"pull":                     {settings{"pull": "sometimes"}, "config.pull"},
		"platform":                 {settings{"platform": "windows/amd64"}, "config.platform"},
		"no CPU":                   {settings{"cpus": 0}, "config.cpus"},
		"negative CPU":             {settings{"cpus": -1}, "config.cpus"},
		"CPU that is no number":    {settings{"cpus": "NaN"}, "config.cpus"},
		"memory below the least":   {settings{"memoryMiB": 15}, "config.memoryMiB"},
		"memory with a fraction":   {settings{"memoryMiB": 64.5}, "config.memoryMiB"},
		"pids without a limit":     {settings{"pids": -1}, "config.pids"},
		"disk":                     {settings{"diskMiB": 1}, "config.diskMiB"},
		"shared memory":            {settings{"shmMiB": 1 << 21}, "config.shmMiB"},
		"the host's network":       {settings{"network": "host"}, "config.network"},
		"another's network":        {settings{"network": "container:db"}, "config.network"},
		"relative workspace":       {settings{"workspacePath": "work"}, "config.workspacePath"},
		"the root as workspace":    {settings{"workspacePath": "/x/.."}, "config.workspacePath"},
		"the kernel's folders":     {settings{"workspacePath": "/proc/1"}, "config.workspacePath"},
		"user":                     {settings{"user": "a b"}, "config.user"},
		"runtime":                  {settings{"runtime": "--evil"}, "config.runtime"},
		"a label of ours":          {settings{"labels": settings{"berth.instance": "x"}}, "config.labels.berth.instance"},
		"labels that are a list":   {settings{"labels": []string{"a"}}, "config.labels"},
		"variable":                 {settings{"env": settings{"A-B": "x"}}, "config.env.A-B"},
		"tool":                     {settings{"requiredTools": []string{"-x"}}, "config.requiredTools"},
		"startup time of nothing":  {settings{"startupTimeoutSec": -1}, "config.startupTimeoutSec"},
		"startup time of 901 s":    {settings{"startupTimeoutSec": 901}, "config.startupTimeoutSec"},
		"policy":                   {settings{"leasePolicy": "forever"}, "config.leasePolicy"},
		"kept for 59 s":            {settings{"retainSec": 59}, "config.retainSec"},
		"reuse that is no yes":     {settings{"reuseLease": "maybe"}, "config.reuseLease"},
		"password without a user":  {settings{"registryPassword": "x"}, "config.registryUsername"},
		"authority that is none":   {settings{"engine": "tcp://host", "tlsCA": "x"}, "config.tlsCA"},
		"key without certificate":  {settings{"engine": "tcp://host", "tlsKey": "x"}, "config.tlsCert"},
		"reference that is none":   {settings{"registryPasswordSecretRef": "x", "registryUsername": "u"}, "config.registryPasswordSecretRef"},
		"text for a number":        {settings{"memoryMiB": "much"}, "config.memoryMiB"},
		"image with a NUL":         {settings{"image": "a\x00b"}, "config.image"},
		"workspace with a comma":   {settings{"workspacePath": "/a,ro"}, "config.workspacePath"},
		"engine that is too long":  {settings{"engine": "tcp://" + strings.Repeat("h", 1100)}, "config.engine"},
		"certificate of another":   {settings{"engine": "tcp://host", "tlsCert": "-----BEGIN X-----", "tlsKey": "k"}, "config.tlsCert"},
		"unix socket of an engine": {settings{"engine": "unix:///" + strings.Repeat("s", 120)}, "config.engine"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := configure(t, tt.config)
			if got := fieldsOf(err); !slices.Contains(got, tt.field) {
				t.Errorf("%v: got %v at %v, want an error at %s", tt.config, err, got, tt.field)
			}
		})
	}
}

// TestC67_NoSecretAmongPlainVariables refuses what other read paths would show: the
// environment's own variables keep it as a secret.
func TestC67_NoSecretAmongPlainVariables(t *testing.T) {
	for name, tt := range map[string]struct{ key, name, value string }{
		"by its name":            {"env", "SERVICE_TOKEN", "canary-1"},
		"by its value":           {"env", "PLACE", "http://u:canary-2@127.0.0.1/"},
		"a private key":          {"env", "NOTES", "-----BEGIN PRIVATE KEY-----canary-3"},
		"a label by its name":    {"labels", "deploy_password", "canary-4"},
		"a label by its content": {"labels", "from", "https://u:canary-5@host/"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := configure(t, settings{tt.key: settings{tt.name: tt.value, "COLOUR": "blue"}})
			e, ours := errors.AsType[*environment.Error](err)
			if !ours || len(e.Fields) != 1 || e.Fields[0].Field != "config."+tt.key+"."+tt.name || !strings.Contains(e.Fields[0].Message, "environment's variables") {
				t.Fatalf("got %+v, want advice at the one field", err)
			}
			if said, _ := json.Marshal(e); strings.Contains(string(said)+e.Error(), "canary") {
				t.Errorf("the refusal tells the value: %s", said)
			}
		})
	}
	saved, _, err := configure(t, settings{"env": settings{"EMPTY_TOKEN": "", "COLOUR": "blue"}, "labels": settings{"team": "a"}})
	if err != nil || saved["env"] == nil {
		t.Errorf("got %v, %v", saved, err)
	}
}

func TestConfigureNormalises(t *testing.T) {
	saved, out, err := configure(t, settings{
		"engine": " ssh://me@host ", "sshPrivateKey": "KEY", "sshKnownHosts": "host ssh-ed25519 AAAA\r\n",
		"registryUsername": "u", "registryPassword": " p ", "cpus": "1.5", "memoryMiB": "64", "reuseLease": "on", "pids": "", "labels": settings{"a": "b"},
		"workspacePath": "/srv//x/", "requiredTools": []string{" git ", "git", ""}, "network": nil, "tlsKey": "not for this engine",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := settings{"provider": "docker", "image": "busybox:1", "engine": "ssh://me@host:22/var/run/docker.sock", "sshKnownHosts": "host ssh-ed25519 AAAA\n",
		"registryUsername": "u", "cpus": 1.5, "memoryMiB": 64.0, "reuseLease": true, "labels": settings{"a": "b"}, "workspacePath": "/srv/x", "requiredTools": []any{"git"}}
	got, _ := json.Marshal(saved)
	wanted, _ := json.Marshal(want)
	if string(got) != string(wanted) {
		t.Errorf("got  %s\nwant %s", got, wanted)
	}
	if out.Secrets["registryPassword"].Reveal() != " p " || out.Secrets["sshPrivateKey"].Reveal() != "KEY" || len(out.Secrets) != 2 {
		t.Errorf("secrets: got %d of them", len(out.Secrets))
	}
	slices.Sort(out.Drop)
	if !slices.Equal(out.Drop, []string{"sshPassphrase", "sshPassword", "tlsKey"}) {
		t.Errorf("dropped: %v", out.Drop)
	}
	if len(out.Warnings) != 1 || out.Warnings[0].Field != "config.tlsKey" {
		t.Errorf("warnings: %+v", out.Warnings)
	}
	if strings.Contains(string(out.Config), "KEY") || strings.Contains(string(out.Config), " p ") {
		t.Errorf("a secret is in the config: %s", out.Config)
	}
	ref := map[string]any{"type": "secret_ref", "secretId": environment.NewID(), "version": "latest"}
	kept, out, err := configure(t, settings{"registryUsername": "u", "registryPasswordSecretRef": ref, "sshPasswordSecretRef": ref})
	if err != nil || kept["registryPasswordSecretRef"] == nil || kept["sshPasswordSecretRef"] != nil || slices.Contains(out.Drop, "registryPassword") {
		t.Errorf("references: got %v, drop %v, %v", kept, out.Drop, err)
	}
}

// TestSchemaAndConfigureAgree checks that the schema can be shown, that each key
// of it is known to Configure and the reverse, and that defaults are fit to save.
func TestSchemaAndConfigureAgree(t *testing.T) {
	d := driver(t, docker.Options{})
	s, err := configschema.Parse(d.Schema())
	if err != nil {
		t.Fatal(err)
	}
	groups := map[string]bool{}
	for _, f := range s.Fields {
		groups[f.Group] = true
		if f.Title == "" || f.Title == f.Name || f.Help == "" && f.Name != "sshPassphrase" {
			t.Errorf("%s is not explained: %q, %q", f.Name, f.Title, f.Help)
		}
		_, _, err := configure(t, settings{f.Name: nil})
		if got := fieldsOf(err); slices.Contains(got, "config."+f.Name) && f.Name != "image" {
			t.Errorf("%s is not known: %v", f.Name, err)
		}
	}
	for _, want := range []string{"", "registry", "engine", "limits", "advanced"} {
		if !groups[want] {
			t.Errorf("no group %q in %v", want, groups)
		}
	}
	if _, err := d.Configure(environment.ConfigInput{Config: s.Defaults(raw(t, settings{"provider": "docker", "image": "app:1"}))}); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
	_, out, err := configure(t, settings{"engine": "tcp://host", "env": settings{"A": "b"}, "labels": settings{"x": "y"}, "cpus": 2, "pull": "never",
		"platform": "linux/arm64", "user": "1000:1000", "runtime": "runsc", "leasePolicy": "ephemeral", "retainSec": 60, "startupTimeoutSec": 900, "archiveOnRelease": true,
		"readOnlyRoot": true, "workspaceMiB": 64, "diskMiB": 64, "shmMiB": 64, "pids": 64, "memoryMiB": 64, "network": "none", "requiredTools": []string{"git"}})
	if err != nil {
		t.Fatal(err)
	}
	var saved map[string]json.RawMessage
	if err := json.Unmarshal(out.Config, &saved); err != nil {
		t.Fatal(err)
	}
	if problems := s.Validate(saved); len(problems) > 0 {
		t.Errorf("what is saved is not valid: %+v", problems)
	}
	roles := map[string]string{"image": "image", "platform": "image", "engine": "target", "network": "target", "user": "target", "tlsCA": "target", "sshKnownHosts": "target",
		"registryPasswordSecretRef": "account", "registryUsername": "account", "tlsCert": "account", "sshPassword": "account", "env": "target", "readOnlyRoot": "target", "workspacePath": "target", "runtime": "target",
		"cpus": "runtime", "reuseLease": "runtime", "pull": "runtime", "labels": "runtime", "requiredTools": "runtime", "workspaceMiB": "runtime", "retainSec": "runtime"}
	for key, want := range roles {
		if got := s.Role(key); got != want {
			t.Errorf("role of %s: got %s, want %s", key, got, want)
		}
	}
}

func TestDescribePlaceAndBudget(t *testing.T) {
	d := driver(t, docker.Options{})
	for config, want := range map[string][2]string{
		`{"image":"app:1"}`: {"docker: app:1 on unix:///var/run/docker.sock", "unix:///var/run/docker.sock"},
		`{"image":"app:1","engine":"unix:///run/x/../podman.sock"}`:                 {"docker: app:1 on unix:///run/podman.sock", "unix:///run/podman.sock"},
		`{"image":"app:1","engine":"tcp://Host"}`:                                   {"docker: app:1 on tcp://Host:2376", "tcp://Host:2376"},
		`{"image":"app:1","engine":"ssh://me@[::1]"}`:                               {"docker: app:1 on ssh://me@[::1]:22", "ssh://me@[::1]:22/var/run/docker.sock"},
		`{"image":"app:1","engine":"ssh://me@host:2222/run/user/1000/podman.sock"}`: {"docker: app:1 on ssh://me@host:2222/run/user/1000/podman.sock", "ssh://me@host:2222/run/user/1000/podman.sock"},
	} {
		if got := [2]string{d.Describe(json.RawMessage(config)), d.Place(json.RawMessage(config))}; got != want {
			t.Errorf("%s: got %q, want %q", config, got, want)
		}
	}
	for config, want := range map[string]time.Duration{``: 2 * time.Minute, `{}`: 2 * time.Minute, `{"startupTimeoutSec":5}`: 5 * time.Second, `{"startupTimeoutSec":99999}`: 15 * time.Minute} {
		if got := d.StartupBudget(json.RawMessage(config)); got != want {
			t.Errorf("budget of %s: got %s, want %s", config, got, want)
		}
	}
}
