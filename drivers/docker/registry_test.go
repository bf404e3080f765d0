package docker_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"berth/drivers/docker"
	"berth/drivers/docker/enginetest"
	"berth/environment"

	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/api/types/registry"
)

// refused acquires what must fail with a code, and checks that nothing of the
// installation is left on the engine, and no secret in the error.
func refused(t *testing.T, e *enginetest.Engine, d *docker.Driver, spec environment.Spec, code string) environment.Error {
	t.Helper()
	ref, err := d.Acquire(t.Context(), spec)
	if err == nil {
		_, _ = d.Release(t.Context(), ref, environment.Destroy)
		t.Fatalf("it was made: %s, want %s", ref.ProviderID, code)
	}
	if environment.CodeOf(err) != code {
		t.Errorf("got %v (%s), want %s", err, environment.CodeOf(err), code)
	}
	if left := e.IDs(t, "berth.instance="+spec.InstanceID.String()); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	for name, secret := range spec.Secrets {
		if strings.Contains(err.Error(), secret.Reveal()) {
			t.Errorf("the error tells %s: %v", name, err)
		}
	}
	e2 := environment.AsError(err)
	if e2.Message == "" || e2.Details["providerLeaseId"] != nil {
		t.Errorf("the error says %q, %v", e2.Message, e2.Details)
	}
	return *e2
}

// pull is one that fails.
type pull struct {
	image    string
	password string // "-": no login
	more     settings
	code     string
	says     string
}

// pulls fail with a registry that lets everybody in, and with one that wants a login.
func pulls(open, closed string) map[string]pull {
	image, wrong := closed+"/team/app:1.2", "sha256:"+strings.Repeat("ab", 32)
	return map[string]pull{
		"no login":                   {image, "-", nil, environment.CodeImageDenied, "without a login"},
		"wrong password":             {image, "wrong-password", nil, environment.CodeImageDenied, `"puller"`},
		"no password":                {image, "", nil, environment.CodeCredentialMissing, "missing"},
		"no such tag":                {closed + "/team/app:none", "right-password", nil, environment.CodeImageNotFound, "has no"},
		"no such repository":         {closed + "/team/none:1", "right-password", nil, environment.CodeImageNotFound, "has no"},
		"no such digest":             {closed + "/team/app@" + wrong, "right-password", nil, environment.CodeImageNotFound, "has no"},
		"digits of a refusal":        {closed + "/team/app@sha256:" + strings.Repeat("401a0403", 8), "right-password", nil, environment.CodeImageNotFound, "has no"},
		"a name of a refusal":        {closed + "/team/denied-403:401", "right-password", nil, environment.CodeImageNotFound, "has no"},
		"never pulled":               {image, "right-password", settings{"pull": "never"}, environment.CodeImageNotFound, "does not have"},
		"no such image's id":         {wrong, "-", nil, environment.CodeImageNotFound, "does not have"},
		"registry that is not there": {"127.0.0.1:1/team/app:1", "-", nil, environment.CodeRegistryUnreachable, "could not fetch"},
		"another platform":           {open + "/team/app:1.2", "-", settings{"platform": "linux/arm64"}, environment.CodeImageNotFound, "not there for linux/arm64"},
	}
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	closed := enginetest.StartRegistry(t, enginetest.RegistryOptions{Username: "puller", Password: "right-password"})
	open := enginetest.StartRegistry(t, enginetest.RegistryOptions{})
	digest := closed.Push(t, e, e.Variant(t, "registry"), "team/app:1.2")
	open.Push(t, e, e.Variant(t, "registry"), "team/app:1.2")
	image, whole := closed.Address+"/team/app:1.2", closed.Address+"/team/app:1.2@"+digest
	login := func(password string) (settings, map[string]environment.Secret) {
		return settings{"registryUsername": "puller"}, map[string]environment.Secret{"registryPassword": environment.NewSecret(password)}
	}
	for name, tt := range pulls(open.Address, closed.Address) {
		t.Run(name, func(t *testing.T) {
			more, secrets := login(tt.password)
			if tt.password == "-" {
				more, secrets = settings{}, nil
			}
			spec := specOf(t, e, tt.image, more, tt.more)
			if spec.Secrets = secrets; tt.password == "" {
				spec.Secrets = nil
			}
			err := refused(t, e, driver(t, docker.Options{}), spec, tt.code)
			if !strings.Contains(err.Message, tt.says) || err.Remediation == "" {
				t.Errorf("it says %q, to do %q; want %q", err.Message, err.Remediation, tt.says)
			}
			result := driver(t, docker.Options{}).Probe(t.Context(), spec, func(environment.Stage) {})
			if result.OK || result.Code != tt.code || len(result.Stages) != 2 || result.Stages[1].Status != environment.StageFailed {
				t.Errorf("a draft's probe: got %+v, want %s at the image", result, tt.code)
			}
		})
	}
	t.Run("right password, by tag and by digest", func(t *testing.T) {
		for _, image := range []string{whole, image} {
			more, secrets := login("right-password")
			spec := specOf(t, e, image, more)
			spec.Secrets = secrets
			d := driver(t, docker.Options{})
			result := d.Probe(t.Context(), spec, func(environment.Stage) {})
			if !result.OK || result.Image == nil || result.Image.Digest != digest {
				t.Errorf("a draft's probe of %s: got %+v, want %s", image, result, digest)
			}
			ref := acquire(t, d, spec)
			if ref.Image == nil || ref.Image.Digest != digest || ref.Image.Repository != closed.Address+"/team/app" || ref.Image.ImageID == "" {
				t.Errorf("%s: got %+v, want the digest %s", image, ref.Image, digest)
			}
			live, err := d.Identity(t.Context(), ref)
			if err != nil || live != *ref.Image {
				t.Errorf("identity: got %+v, %v, want %+v", live, err, ref.Image)
			}
			e.Untag(t, closed.Address+"/team/app@"+digest)
		}
	})
}

// TestLoginGoesToItsOwnRegistryOnly watches which pulls an engine gets a login with.
func TestLoginGoesToItsOwnRegistryOnly(t *testing.T) {
	t.Parallel()
	logins := make(chan string, 8)
	engine := stub(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.41")
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/images/create"):
			logins <- r.Header.Get("X-Registry-Auth")
			_, _ = w.Write([]byte(`{"errorDetail":{"message":"denied for canary-password"},"error":"denied for canary-password"}`))
		case r.URL.Path != "/_ping":
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"message":"No such image"}`))
		}
	})
	for image, pinned := range map[string]string{"registry.test/app:1": "", "registry.test/app:2": "registry.test/app", "registry.test/app:3": "other.test/app", "registry.test/app:4": "registry.test:5000/app"} {
		spec := specAt(engine, "")
		spec.Config = json.RawMessage(fmt.Sprintf(`{"engine":%q,"image":%q,"registryUsername":"me"}`, engine, image))
		spec.Secrets = map[string]environment.Secret{"registryPassword": environment.NewSecret("canary-password")}
		own := pinned == "" || pinned == "registry.test/app"
		if pinned != "" {
			spec.Pinned = &environment.ImageIdentity{Kind: environment.ImageDigest, Repository: pinned, Digest: "sha256:" + strings.Repeat("ab", 32), Reference: image}
		}
		_, err := driver(t, docker.Options{}).Acquire(t.Context(), spec)
		if err == nil || strings.Contains(err.Error(), "canary") || strings.Contains(fmt.Sprint(environment.AsError(err).Details), "canary") {
			t.Errorf("%s: the error is %v", image, err)
		}
		login, decoded := <-logins, registry.AuthConfig{}
		if own == (login == "") {
			t.Errorf("%s from %q: the login is %q", image, pinned, login)
		}
		if own {
			got, err := authconfig.Decode(login)
			if err != nil {
				t.Fatal(err)
			}
			decoded = *got
		}
		if own && (decoded.Username != "me" || decoded.Password != "canary-password" || decoded.ServerAddress != "registry.test") {
			t.Errorf("%s: the login is of %q at %q", image, decoded.Username, decoded.ServerAddress)
		}
	}
}
