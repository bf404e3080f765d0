package podmantest

import (
	"encoding/json"
	"testing"

	"berth/drivers/docker"
	"berth/drivers/docker/enginetest"
	"berth/environment"

	"github.com/google/uuid"
)

// TestImages pulls by digest with a login, makes a sandbox from the identity that
// was found, and is refused with a wrong password.
func TestImages(t *testing.T) {
	e := enginetest.Podman(t)
	registry := enginetest.StartRegistry(t, enginetest.RegistryOptions{Username: "puller", Password: "right-password"})
	digest := registry.Push(t, e, e.Variant(t, "podman"), "team/app:1")
	d := docker.New(docker.Options{})
	defer func() { _ = d.Close() }()
	spec := func(image, password string) environment.Spec {
		config, err := json.Marshal(map[string]any{"provider": "docker", "engine": e.Host, "image": image, "network": "none", "registryUsername": "puller"})
		if err != nil {
			t.Fatal(err)
		}
		return environment.Spec{Driver: environment.DriverSandbox, Config: config, IdempotencyKey: environment.NewID().String(), InstanceID: uuid.New(),
			Secrets: map[string]environment.Secret{"registryPassword": environment.NewSecret(password)}}
	}
	whole := registry.Address + "/team/app@" + digest
	if _, err := d.Acquire(t.Context(), spec(whole, "wrong-password")); environment.CodeOf(err) != environment.CodeImageDenied {
		t.Errorf("wrong password: got %v", err)
	}
	if _, err := d.Acquire(t.Context(), spec(registry.Address+"/team/app:none", "right-password")); environment.CodeOf(err) != environment.CodeImageNotFound {
		t.Errorf("no such tag: got %v", err)
	}
	s := spec(whole, "right-password")
	result := d.Probe(t.Context(), s, func(environment.Stage) {})
	if !result.OK {
		t.Errorf("a draft's probe: got %+v", result)
	}
	ref, err := d.Acquire(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	live, err := d.Identity(t.Context(), ref)
	if err != nil || live.Digest != digest || live.Kind != environment.ImageDigest || ref.Image == nil || *ref.Image != live {
		t.Errorf("identity: got %+v, %v, want %s; the ref has %+v", live, err, digest, ref.Image)
	}
	if receipt, err := d.Release(t.Context(), ref, environment.Destroy); err != nil || receipt.Outcome != "destroyed" {
		t.Errorf("release: %+v, %v", receipt, err)
	}
	pinned := spec(registry.Address+"/team/app:1", "right-password")
	pinned.Pinned = &live
	again, err := d.Acquire(t.Context(), pinned)
	if err != nil {
		t.Fatalf("from its identity: %v", err)
	}
	if found, err := d.Identity(t.Context(), again); err != nil || !found.Same(live) {
		t.Errorf("from its identity: got %+v, %v", found, err)
	}
	if _, err := d.Release(t.Context(), again, environment.Destroy); err != nil {
		t.Error(err)
	}
	e.Untag(t, whole)
	registry.Stop(t)
	gone := spec(registry.Address+"/team/app:1", "right-password")
	gone.Pinned = &live
	if _, err := d.Acquire(t.Context(), gone); environment.CodeOf(err) != environment.CodeImageDeleted {
		t.Errorf("its image is gone: got %v", err)
	}
}
