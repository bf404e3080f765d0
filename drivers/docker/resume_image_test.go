package docker_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"berth/drivers/docker"
	"berth/environment"
)

// TestResumeComparesImages takes the same image for the same, however an engine
// writes its id, and another for another.
func TestResumeComparesImages(t *testing.T) {
	t.Parallel()
	own, other := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	for image, code := range map[string]string{"sha256:" + own: "", own: "", "sha256:" + other: environment.CodeSandboxMismatch, other: environment.CodeSandboxMismatch} {
		var spec environment.Spec
		engine := stub(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Api-Version", "1.41")
			w.Header().Set("Content-Type", "application/json")
			if strings.HasPrefix(r.URL.Path, "/v1.41/containers/") {
				_, _ = fmt.Fprintf(w, `{"Id":"c0ffee","Image":%q,"State":{"Running":true},"Config":{"Hostname":"box","Labels":{"berth.instance":%q,"berth.lease":%q}}}`,
					image, spec.InstanceID, spec.IdempotencyKey)
			}
		})
		spec = specAt(engine, "")
		ref := environment.Ref{Driver: environment.DriverSandbox, Provider: environment.ProviderDocker, ProviderID: "c0ffee", Config: spec.Config,
			LeaseKey: spec.IdempotencyKey, InstanceID: spec.InstanceID, Image: &environment.ImageIdentity{Kind: environment.ImageLocal, ImageID: "sha256:" + own}}
		_, err := driver(t, docker.Options{}).Resume(t.Context(), ref, spec)
		if got := environment.CodeOf(err); got != code {
			t.Errorf("%s: got %v, want %q", image, err, code)
		}
	}
}
