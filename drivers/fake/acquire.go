package fake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"berth/environment"
)

// Acquire makes a sandbox and waits until it says that it is ready. Errors:
// image_not_found, image_denied, image_deleted, create_failed, start_failed and
// what the script says.
func (d *Driver) Acquire(ctx context.Context, spec environment.Spec) (environment.Ref, error) {
	ctx, cancel := context.WithTimeout(ctx, d.StartupBudget(spec.Config))
	defer cancel()
	ref := environment.Ref{Driver: d.Name(), Provider: d.Provider(), Config: spec.Config, ProviderVersion: version, LeaseKey: spec.IdempotencyKey,
		InstanceID: spec.InstanceID, Metadata: map[string]string{"environment": spec.EnvironmentID.String()}, Spec: spec}
	if err := d.stage(spec, "engine", func() (string, error) {
		_, err := d.step(ctx, ref, "engine")
		return "The fake engine answers.", err
	}); err != nil {
		return environment.Ref{}, err
	}
	var image environment.ImageIdentity
	if err := d.stage(spec, "image", func() (said string, err error) {
		if _, err = d.step(ctx, ref, "image"); err == nil {
			image, err = d.choose(spec)
		}
		return "The image is " + image.Reference + ".", err
	}); err != nil {
		return environment.Ref{}, err
	}
	if err := d.stage(spec, "create", func() (string, error) {
		err := d.create(ctx, &ref, image)
		return "The sandbox " + ref.ProviderID + " is made.", err
	}); err != nil {
		return environment.Ref{}, err
	}
	if err := d.start(ctx, ref); err != nil {
		return environment.Ref{}, err
	}
	return ref, nil
}

// version is the provider's.
const version = "1"

// create makes the sandbox and fills in the ref.
func (d *Driver) create(ctx context.Context, ref *environment.Ref, image environment.ImageIdentity) error {
	if _, err := d.step(ctx, *ref, "acquire.before-create"); err != nil {
		return err
	}
	spec := ref.Spec
	s, isNew, err := d.world.create(sandbox{LeaseKey: spec.IdempotencyKey, InstanceID: spec.InstanceID, EnvironmentID: spec.EnvironmentID,
		CompanyID: spec.CompanyID, OwnerKind: spec.OwnerKind, Image: image, CreatedAt: d.opts.Now().UTC()})
	if err != nil {
		return environment.Unavailable(environment.CodeCreateFailed, "The fake sandbox could not be made.").Remedy(environment.Remedy(environment.CodeCreateFailed)).Because(err)
	}
	folder := d.world.folderOf(s.ID)
	ref.ProviderID, ref.Dir, ref.Image = s.ID, filepath.Join(folder, "work"), &s.Image
	if ref.Host, err = host(s.ID); err != nil {
		return err
	}
	if isNew {
		if err := d.world.count(created); err != nil {
			return err
		}
	}
	k, err := d.step(ctx, *ref, "acquire.after-create")
	switch {
	case err != nil:
		return err
	case k.lose:
		return d.world.destroy(s.ID)
	case k.loseAnswer:
		return lost("acquire.after-create")
	}
	return nil
}

// host is this machine's name, for that is where it is, and the sandbox's id.
func host(id string) (environment.HostFacts, error) {
	name, err := os.Hostname()
	if err != nil {
		return environment.HostFacts{}, fmt.Errorf("read this machine's name: %w", err)
	}
	return environment.HostFacts{Name: name, BootID: id}, nil
}

// choose finds the image: the pinned one, else what the config names.
func (d *Driver) choose(spec environment.Spec) (environment.ImageIdentity, error) {
	c, err := readConfig(spec.Config)
	if err != nil {
		return environment.ImageIdentity{}, err
	}
	id := identityOf(c.image())
	if spec.Pinned != nil {
		id = *spec.Pinned
	}
	switch {
	case strings.HasPrefix(id.SnapshotID, capturedPrefix) && !d.world.has(id.SnapshotID):
		return id, environment.NewError(environment.KindNotFound, environment.CodeImageDeleted, "The captured image "+id.SnapshotID+" was deleted.").
			Remedy(environment.Remedy(environment.CodeImageDeleted))
	case strings.HasSuffix(id.Reference, ":missing"):
		return id, environment.NewError(environment.KindNotFound, environment.CodeImageNotFound, "There is no image "+id.Reference+".").
			Remedy(environment.Remedy(environment.CodeImageNotFound))
	case strings.HasSuffix(id.Reference, ":denied"):
		return id, environment.Unavailable(environment.CodeImageDenied, "The registry refused "+id.Reference+".").
			Remedy(environment.Remedy(environment.CodeImageDenied))
	}
	return id, nil
}

// identityOf is what an image's name leads to: a name leads to one content, and a
// captured image's id to itself.
func identityOf(image string) environment.ImageIdentity {
	id := environment.ImageIdentity{Kind: environment.ImageSnapshot, Reference: image, SnapshotID: image}
	if !strings.HasPrefix(image, capturedPrefix) {
		sum := sha256.Sum256([]byte(image))
		id.SnapshotID = "image-" + hex.EncodeToString(sum[:8])
	}
	return id
}

// live returns the sandbox of a ref that runs; sandbox_gone when it does not
// exist, start_failed when it is stopped.
func (d *Driver) live(ref environment.Ref) (sandbox, error) {
	s, err := d.world.get(ref.ProviderID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, gone(ref.ProviderID)
	case err != nil:
		return s, environment.Unavailable(environment.CodeEngineUnreachable, "The fake sandbox cannot be read.").Because(err)
	case !s.Running:
		return s, environment.Unavailable(environment.CodeStartFailed, "The fake sandbox "+s.ID+" is stopped.").Remedy(environment.Remedy(environment.CodeStartFailed))
	}
	return s, nil
}
