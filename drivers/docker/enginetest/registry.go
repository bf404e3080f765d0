package enginetest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

// RegistryOptions of a Registry; the zero value lets everybody in.
type RegistryOptions struct{ Username, Password string }

// Registry is a running registry on the loopback, which every Engine speaks plain
// HTTP with.
type Registry struct {
	Address string // "127.0.0.1:port"; begins every reference to it
	options RegistryOptions
	dir     string
	daemon  *daemon
}

// StartRegistry runs an empty registry until the end of the test. What is in it
// can be deleted.
func StartRegistry(t testing.TB, o RegistryOptions) *Registry {
	t.Helper()
	if err := sweep(); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", prefix, os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	r := &Registry{options: o, dir: dir}
	t.Cleanup(func() {
		var errs []error
		if r.daemon != nil {
			errs = append(errs, r.daemon.stop())
		}
		if err := errors.Join(append(errs, clear(dir))...); err != nil {
			t.Errorf("end the registry: %v", err)
		}
	})
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	r.Address = fmt.Sprintf("127.0.0.1:%d", port)
	if err := r.configure(); err != nil {
		t.Fatal(err)
	}
	r.Start(t)
	return r
}

func (r *Registry) configure() error {
	lines := []string{"version: 0.1", "storage:", "  filesystem:", "    rootdirectory: " + filepath.Join(r.dir, "data"),
		"  delete:", "    enabled: true", "http:", "  addr: " + r.Address}
	if r.options.Username != "" {
		hash, err := bcrypt.GenerateFromPassword([]byte(r.options.Password), bcrypt.MinCost)
		if err != nil {
			return fmt.Errorf("hash the registry's password: %w", err)
		}
		if err := os.WriteFile(filepath.Join(r.dir, "htpasswd"), fmt.Appendf(nil, "%s:%s\n", r.options.Username, hash), 0o600); err != nil {
			return fmt.Errorf("write the registry's password: %w", err)
		}
		lines = append(lines, "auth:", "  htpasswd:", "    realm: tests", "    path: "+filepath.Join(r.dir, "htpasswd"))
	}
	if err := os.WriteFile(filepath.Join(r.dir, "config.yml"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the registry's configuration: %w", err)
	}
	return nil
}

// Start runs the registry, again after Stop, and returns when it answers.
func (r *Registry) Start(t testing.TB) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(r.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // the registry has its own
	if r.daemon, err = startDaemon([]string{"/usr/bin/docker-registry", "serve", filepath.Join(r.dir, "config.yml")}, nil, log); err != nil {
		t.Fatal(err)
	}
	if err := until("the registry answers", bootTime, func() (bool, error) {
		if r.daemon.hasEnded() {
			return false, errors.New("it ended")
		}
		response, err := http.Get("http://" + r.Address + "/v2/")
		if err != nil {
			return false, nil
		}
		return true, response.Body.Close()
	}); err != nil {
		text, _ := os.ReadFile(filepath.Join(r.dir, "log")) // none is none
		t.Fatalf("%v; its log:\n%s", err, text)
	}
}

// Stop ends the registry; what is in it stays.
func (r *Registry) Stop(t testing.TB) {
	t.Helper()
	if err := r.daemon.stop(); err != nil {
		t.Fatalf("stop the registry: %v", err)
	}
}

// Push puts an image of the engine there as name, "team/app:tag", and returns its
// digest. The engine forgets that name again.
func (r *Registry) Push(t testing.TB, e *Engine, image, name string) string {
	t.Helper()
	ref := r.Address + "/" + name
	if err := e.tag(image, ref); err != nil {
		t.Fatal(err)
	}
	auth, err := json.Marshal(map[string]string{"username": r.options.Username, "password": r.options.Password, "serveraddress": r.Address})
	if err != nil {
		t.Fatal(err)
	}
	at := strings.LastIndexByte(ref, ':')
	text, err := e.call(http.MethodPost, "/v1.41/images/"+ref[:at]+"/push", url.Values{"tag": {ref[at+1:]}},
		http.Header{"X-Registry-Auth": {base64.URLEncoding.EncodeToString(auth)}}, nil, nil)
	if err == nil {
		err = streamed(text, nil)
	}
	if err != nil {
		t.Fatalf("push %s: %v", ref, err)
	}
	digest := r.Digest(t, name)
	if digest == "" {
		t.Fatalf("push %s: the registry does not have it", ref)
	}
	e.Untag(t, ref)
	e.Untag(t, ref[:at]+"@"+digest)
	return digest
}

// Digest is what a name leads to now; "" for nothing.
func (r *Registry) Digest(t testing.TB, name string) string {
	t.Helper()
	at := strings.LastIndexByte(name, ':')
	response := r.ask(t, http.MethodHead, "/v2/"+name[:at]+"/manifests/"+name[at+1:])
	if response.StatusCode == http.StatusNotFound {
		return ""
	}
	return response.Header.Get("Docker-Content-Digest")
}

// Delete takes a digest of a repository out of the registry, with its tags.
func (r *Registry) Delete(t testing.TB, repository, digest string) {
	t.Helper()
	if got := r.ask(t, http.MethodDelete, "/v2/"+repository+"/manifests/"+digest).StatusCode; got != http.StatusAccepted {
		t.Fatalf("delete %s@%s: the registry answered %d", repository, digest, got)
	}
}

func (r *Registry) ask(t testing.TB, method, path string) *http.Response {
	t.Helper()
	request, err := http.NewRequest(method, "http://"+r.Address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/vnd.docker.distribution.manifest.v2+json, application/vnd.oci.image.manifest.v1+json")
	if r.options.Username != "" {
		request.SetBasicAuth(r.options.Username, r.options.Password)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return response
}
