package docker_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"berth/drivers/docker"
	"berth/drivers/docker/enginetest"
	"berth/environment"
)

// TestPinned makes sandboxes from a recorded identity, and takes its image away in
// every way there is.
func TestPinned(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	registry := enginetest.StartRegistry(t, enginetest.RegistryOptions{})
	name := registry.Address + "/team/pinned"
	digest := registry.Push(t, e, e.Variant(t, "pinned"), "team/pinned:1")
	e.Untag(t, "localhost/berth/variant-pinned:1")
	d := driver(t, docker.Options{})
	spec := specOf(t, e, name+":1")
	identity := *acquire(t, d, spec).Image
	if identity.Digest != digest {
		t.Fatalf("got %+v, want %s", identity, digest)
	}
	pinned := func(more ...settings) environment.Spec {
		s := specOf(t, e, name+":1", more...)
		s.Pinned = &identity
		return s
	}
	from := func(t *testing.T, s environment.Spec) {
		t.Helper()
		ref := acquire(t, d, s)
		if live, err := d.Identity(t.Context(), ref); err != nil || live != identity {
			t.Errorf("got %+v, %v, want %+v", live, err, identity)
		}
		if _, err := d.Release(t.Context(), ref, environment.Destroy); err != nil {
			t.Error(err)
		}
	}
	destroyAll := func() {
		for _, id := range e.IDs(t, "berth.instance="+spec.InstanceID.String()) {
			e.Remove(t, id)
		}
	}
	destroyAll()
	t.Run("it is there", func(t *testing.T) { from(t, pinned()) })
	// Another image takes the tag over, in the registry and on the engine.
	registry.Push(t, e, e.Variant(t, "impostor"), "team/pinned:1")
	e.Pull(t, name+":1")
	t.Run("another has its tag", func(t *testing.T) { from(t, pinned()) })
	t.Run("its id is not known", func(t *testing.T) {
		s := pinned()
		bare := identity
		bare.ImageID = ""
		s.Pinned = &bare
		from(t, s)
	})
	t.Run("it is pulled again, by its digest", func(t *testing.T) {
		e.Untag(t, name+"@"+digest)
		if e.ImageID(t, identity.ImageID) != "" {
			t.Fatal("the image is still there: the test proves nothing")
		}
		from(t, pinned())
	})
	t.Run("the digest leads to another id", func(t *testing.T) {
		s := pinned()
		other := identity
		other.ImageID = "sha256:" + strings.Repeat("ab", 32)
		s.Pinned = &other
		refused(t, e, d, s, environment.CodeImageDigestMismatch)
	})
	e.Untag(t, name+"@"+digest)
	pinnedIsGone(t, e, registry, identity, pinned)
}

// pinnedIsGone asks for an image that the engine does not have any more, though it
// has another of the same tag.
func pinnedIsGone(t *testing.T, e *enginetest.Engine, registry *enginetest.Registry, identity environment.ImageIdentity, pinned func(...settings) environment.Spec) {
	name, d := identity.Repository, driver(t, docker.Options{})
	gone := func(t *testing.T, s environment.Spec, proof bool) {
		t.Helper()
		err := refused(t, e, d, s, environment.CodeImageDeleted)
		if err.Kind != environment.KindNotFound || err.Details["proof"] != proof {
			t.Errorf("got %s, %v, want not_found, proof %v", err.Kind, err.Details, proof)
		}
		if e.ImageID(t, name+":1") == "" {
			t.Error("no image has the tag: the test proves nothing")
		}
	}
	t.Run("it is not pulled", func(t *testing.T) { gone(t, pinned(settings{"pull": "never"}), false) })
	t.Run("the registry says that it has none", func(t *testing.T) { // a digest that the engine never had: it remembers manifests
		s := pinned()
		s.Pinned = &environment.ImageIdentity{Kind: environment.ImageDigest, Reference: name + ":1", Repository: name, Digest: "sha256:" + strings.Repeat("ef", 32)}
		gone(t, s, true)
	})
	t.Run("the registry is stopped", func(t *testing.T) {
		registry.Stop(t)
		gone(t, pinned(), false)
	})
	t.Run("an image of the engine's own is gone", func(t *testing.T) {
		s := pinned()
		s.Pinned = &environment.ImageIdentity{Kind: environment.ImageLocal, Reference: identity.ImageID, ImageID: identity.ImageID}
		gone(t, s, true)
	})
	t.Run("an identity without content", func(t *testing.T) {
		s := pinned()
		s.Pinned = &environment.ImageIdentity{Kind: environment.ImageSnapshot, SnapshotID: "x", Reference: name + ":1"}
		gone(t, s, true)
	})
}

// TestIdentityOfLocalImages looks at images that came from no registry.
func TestIdentityOfLocalImages(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	d := driver(t, docker.Options{})
	image := e.Variant(t, "local")
	id := e.ImageID(t, image)
	for _, reference := range []string{image, id} {
		want := environment.ImageIdentity{Kind: environment.ImageLocal, Reference: reference, ImageID: id}
		ref := acquire(t, d, specOf(t, e, reference))
		if live, err := d.Identity(t.Context(), ref); err != nil || live != want || ref.Image == nil || *ref.Image != want {
			t.Errorf("%s: got %+v, %v, want %+v", reference, live, err, want)
		}
	}
	selected, code, ok := d.Selected(json.RawMessage(`{"image":"` + id + `"}`))
	if !ok || code != "" || selected.ImageID != id || selected.Kind != environment.ImageLocal {
		t.Errorf("selected: got %+v, %q", selected, code)
	}
}

// TestC44_AnImageByItsIDIsAskedOfNoRegistry watches what an engine is asked.
func TestC44_AnImageByItsIDIsAskedOfNoRegistry(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	proxy := enginetest.NewProxy(t, e)
	d := driver(t, docker.Options{})
	spec := specOf(t, e, "sha256:"+strings.Repeat("cd", 32), settings{"engine": proxy.Host})
	refused(t, e, d, spec, environment.CodeImageNotFound)
	if pulls := slices.DeleteFunc(proxy.Requests(), func(line string) bool { return !strings.Contains(line, "/images/create") }); len(pulls) > 0 {
		t.Errorf("the engine was asked to pull: %v", pulls)
	}
}
