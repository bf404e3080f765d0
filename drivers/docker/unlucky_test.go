package docker_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"berth/drivers/docker"
	"berth/environment"
)

// TestImageNamedLikeAFault pulls an image whose name has a word that also stands in
// an engine's complaints.
func TestImageNamedLikeAFault(t *testing.T) {
	t.Parallel()
	for image, wanted := range map[string]bool{"registry.test/network-tools:1": true, "registry.test/team/network:not-found": true} {
		var pulls atomic.Int32
		engine := stub(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Api-Version", "1.41")
			w.Header().Set("Content-Type", "application/json")
			switch {
			case strings.HasSuffix(r.URL.Path, "/images/create"):
				pulls.Add(1)
				_, _ = w.Write([]byte(`{"status":"Pull complete"}`))
			case r.URL.Path != "/_ping":
				w.WriteHeader(http.StatusNotFound)
				_, _ = fmt.Fprintf(w, `{"message":"No such image: %s"}`, image)
			}
		})
		spec := specAt(engine, "")
		spec.Config = json.RawMessage(fmt.Sprintf(`{"engine":%q,"image":%q}`, engine, image))
		_, err := driver(t, docker.Options{}).Acquire(t.Context(), spec)
		if environment.CodeOf(err) != environment.CodeImageNotFound || pulls.Load() == 1 != wanted {
			t.Errorf("%s: got %v after %d pulls", image, err, pulls.Load())
		}
	}
}

// TestPinnedVanishesWhenItIsUsed takes a pinned image away after it was found: it
// is deleted, and no name is asked for in its place.
func TestPinnedVanishesWhenItIsUsed(t *testing.T) {
	t.Parallel()
	digest, id := "sha256:"+strings.Repeat("ab", 32), "sha256:"+strings.Repeat("cd", 32)
	var pulls atomic.Int32
	engine := stub(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.41")
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/images/create"):
			pulls.Add(1)
		case strings.Contains(r.URL.Path, "/images/"):
			_, _ = fmt.Fprintf(w, `{"Id":%q,"RepoDigests":["registry.test/app@%s"]}`, id, digest)
		case r.URL.Path != "/_ping":
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprintf(w, `{"message":"No such image: %s"}`, id)
		}
	})
	spec := specAt(engine, "")
	spec.Config = json.RawMessage(fmt.Sprintf(`{"engine":%q,"image":"registry.test/app:1"}`, engine))
	spec.Pinned = &environment.ImageIdentity{Kind: environment.ImageDigest, Repository: "registry.test/app", Digest: digest, ImageID: id, Reference: "registry.test/app:1"}
	_, err := driver(t, docker.Options{}).Acquire(t.Context(), spec)
	e := environment.AsError(err)
	if e.Kind != environment.KindNotFound || e.Code != environment.CodeImageDeleted || e.Details["proof"] != true || pulls.Load() > 0 {
		t.Errorf("got %s %s, %v, after %d pulls", e.Kind, e.Code, e.Details, pulls.Load())
	}
}
