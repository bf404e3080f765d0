package drivertest

import (
	"testing"

	"berth/environment"
)

func (x *sandboxes) identity(t *testing.T) {
	identifier := x.driver.(environment.Identifier)
	selected, code, pinned := identifier.Selected(x.spec.Config)
	if pinned == (code != "") {
		t.Errorf("selected: got %+v, code %q, %v, want a code or an identity", selected, code, pinned)
	}
	change := func(s *environment.Spec) {
		if pinned {
			s.Pinned = &selected
		}
	}
	ref := x.acquire(t, change)
	live, err := identifier.Identity(t.Context(), ref)
	if err != nil || !live.Same(live) {
		t.Fatalf("identity: got %+v, %v", live, err)
	}
	if pinned && !live.Same(selected) {
		t.Errorf("got %+v, want what was chosen, %+v", live, selected)
	}
	if ref.Image == nil || !ref.Image.Same(live) {
		t.Errorf("the ref says %+v, the provider %+v", ref.Image, live)
	}
	x.release(t, ref, environment.Destroy, "destroyed", ref.ProviderID)
	if got, err := identifier.Identity(t.Context(), ref); codeOf(err) != environment.CodeSandboxGone {
		t.Errorf("of what is gone: got %+v, %v, want %s", got, err, environment.CodeSandboxGone)
	}
}

func (x *sandboxes) captures(t *testing.T) {
	ref := x.acquire(t)
	if x.can.Exec {
		x.target(ref).sh(t, "echo captured >note")
	}
	request := environment.CaptureRequest{Key: environment.NewID().String(), Labels: map[string]string{"test": "drivertest"}}
	image, err := x.driver.(environment.Capturer).Capture(t.Context(), ref, request)
	if err != nil {
		t.Fatalf("capture: %v", err)
	}
	again, err := x.driver.(environment.Capturer).Capture(t.Context(), ref, request)
	if err != nil || !again.Same(image) {
		t.Errorf("capture again: got %+v, %v, want the same as %+v", again, err, image)
	}
	x.release(t, ref, environment.Destroy, "destroyed", ref.ProviderID)

	from := func(s *environment.Spec) { s.Pinned = &image }
	ref = x.acquire(t, from)
	if x.can.Exec {
		if got := x.target(ref).sh(t, "cat note"); got != "captured\n" {
			t.Errorf("the workspace has %q, want what was captured", got)
		}
	}
	if x.can.Identify {
		if live, err := x.driver.(environment.Identifier).Identity(t.Context(), ref); err != nil || !live.Same(image) {
			t.Errorf("identity: got %+v, %v, want %+v", live, err, image)
		}
	}
	x.release(t, ref, environment.Destroy, "destroyed", ref.ProviderID)
	if x.can.DeleteImage {
		x.deletes(t, image)
	}
}

func (x *sandboxes) deletes(t *testing.T, image environment.ImageIdentity) {
	deleter := x.driver.(environment.ImageDeleter)
	others := x.spec
	others.InstanceID = environment.NewID()
	if err := deleter.DeleteImage(t.Context(), others, image); environment.KindOf(err) != environment.KindForbidden {
		t.Errorf("another installation's: got %v, want it refused", err)
	}
	for range 2 {
		if err := deleter.DeleteImage(t.Context(), x.spec, image); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	spec := x.spec
	spec.Pinned, spec.IdempotencyKey = &image, environment.NewID().String()
	ref, err := x.driver.Acquire(t.Context(), spec)
	if codeOf(err) != environment.CodeImageDeleted {
		t.Errorf("acquire of it: got %+v, %v, want %s", ref, err, environment.CodeImageDeleted)
	}
	x.destroy(t, withoutID(spec))
}
