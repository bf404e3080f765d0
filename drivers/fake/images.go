package fake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"berth/environment"

	"github.com/google/uuid"
)

// capturedPrefix begins the id of a captured image.
const capturedPrefix = "captured-"

// captured is what image.json of a captured image says; the workspace is beside it.
type captured struct {
	ID         string            `json:"id"`
	InstanceID uuid.UUID         `json:"instanceId"`
	Labels     map[string]string `json:"labels"`
}

func (w world) imageFolder(id string) string {
	return filepath.Join(w.dir, "images", filepath.Base(id))
}

func (w world) has(image string) bool {
	_, err := os.Stat(w.imageFolder(image))
	return err == nil
}

// unpack puts a captured image's files into a workspace; other images are empty.
func (w world) unpack(image, dir string) error {
	if !strings.HasPrefix(image, capturedPrefix) {
		return nil
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(w.imageFolder(image), "work"))); err != nil {
		return environment.Unavailable(environment.CodeCreateFailed, "The captured image could not be unpacked.").Because(err)
	}
	return nil
}

// Capture makes an image of a sandbox's workspace.
func (d *Driver) Capture(ctx context.Context, ref environment.Ref, r environment.CaptureRequest) (environment.ImageIdentity, error) {
	s, err := d.find(ref)
	if errors.Is(err, fs.ErrNotExist) {
		return environment.ImageIdentity{}, gone(ref.ProviderID)
	}
	if err != nil {
		return environment.ImageIdentity{}, err
	}
	k, err := d.step(ctx, ref, "capture")
	if err != nil {
		return environment.ImageIdentity{}, err
	}
	sum := sha256.Sum256([]byte(ref.InstanceID.String() + " " + r.Key))
	id := capturedPrefix + hex.EncodeToString(sum[:8])
	if !d.world.has(id) {
		if err := d.world.use(s.ID); err != nil {
			return environment.ImageIdentity{}, gone(s.ID)
		}
		if err := d.world.capture(captured{ID: id, InstanceID: s.InstanceID, Labels: maps.Clone(r.Labels)}, d.world.folderOf(s.ID)); err != nil {
			return environment.ImageIdentity{}, environment.Unavailable("capture_failed", "The fake sandbox could not be captured.").Because(err)
		}
	}
	if k.loseAnswer {
		return environment.ImageIdentity{}, lost("capture")
	}
	return environment.ImageIdentity{Kind: environment.ImageSnapshot, Reference: id, SnapshotID: id}, nil
}

// capture copies the workspace aside and then publishes it with one rename.
func (w world) capture(c captured, folder string) error {
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("describe the image: %w", err)
	}
	staging := filepath.Join(w.dir, "making", c.ID+"-"+uuid.NewString())
	if err := errors.Join(os.MkdirAll(staging, 0o755), os.MkdirAll(w.imageFolder(""), 0o755)); err != nil {
		return fmt.Errorf("make the image's folder: %w", err)
	}
	err = errors.Join(os.CopyFS(filepath.Join(staging, "work"), os.DirFS(filepath.Join(folder, "work"))),
		os.WriteFile(filepath.Join(staging, "image.json"), text, 0o600))
	if err == nil {
		err = os.Rename(staging, w.imageFolder(c.ID))
	}
	if err != nil && w.has(c.ID) { // somebody else was faster
		err = nil
	}
	return errors.Join(err, os.RemoveAll(staging))
}

// DeleteImage deletes a captured image. One that is gone is no error; one of
// another installation is KindForbidden.
func (d *Driver) DeleteImage(ctx context.Context, spec environment.Spec, image environment.ImageIdentity) error {
	if _, err := d.step(ctx, environment.Ref{Spec: spec}, "delete-image"); err != nil {
		return err
	}
	folder := d.world.imageFolder(image.SnapshotID)
	text, err := os.ReadFile(filepath.Join(folder, "image.json"))
	if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(image.SnapshotID, capturedPrefix) {
		return nil
	}
	var c captured
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil || c.InstanceID != spec.InstanceID {
		return environment.NewError(environment.KindForbidden, "not_captured_here", "This image was not captured by this installation.").Because(err)
	}
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("delete the image %s: %w", c.ID, err)
	}
	return nil
}

// Selected never names an identity: nothing that is faked can qualify.
func (d *Driver) Selected(raw json.RawMessage) (environment.ImageIdentity, string, bool) {
	c, err := readConfig(raw)
	if err != nil {
		return environment.ImageIdentity{}, environment.QualUnsupported, false
	}
	return identityOf(c.image()), environment.QualUnsupported, false
}

// Identity returns what a sandbox was made from; sandbox_gone when it is not there.
func (d *Driver) Identity(ctx context.Context, ref environment.Ref) (environment.ImageIdentity, error) {
	if _, err := d.step(ctx, ref, "identity"); err != nil {
		return environment.ImageIdentity{}, err
	}
	s, err := d.find(ref)
	if errors.Is(err, fs.ErrNotExist) {
		return environment.ImageIdentity{}, gone(ref.ProviderID)
	}
	return s.Image, err
}
