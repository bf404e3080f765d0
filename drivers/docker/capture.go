package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"berth/environment"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// Capture makes an image of the sandbox, paused meanwhile. What is in memory, such
// as the workspace of a read-only root, is not part of it. A second call with a
// key gives the image of the first.
func (d *Driver) Capture(ctx context.Context, ref environment.Ref, r environment.CaptureRequest) (environment.ImageIdentity, error) {
	if r.Key == "" {
		return environment.ImageIdentity{}, environment.Invalid("validation_failed", "A capture needs a key.")
	}
	s, err := d.sandboxOf(ctx, ref)
	if err != nil {
		return environment.ImageIdentity{}, err
	}
	if id, err := s.captured(ctx, r.Key); err != nil || id != "" {
		return captureOf(id), err
	}
	if _, err := s.inspect(ctx); err != nil {
		return environment.ImageIdentity{}, err
	}
	sum := sha256.Sum256([]byte(s.instance.String() + "\x00" + r.Key))
	limited, cancel := context.WithTimeout(ctx, environment.MaxStartupBudget) // a large one takes its time
	defer cancel()
	made, err := s.ContainerCommit(limited, s.id, client.ContainerCommitOptions{
		Reference: "localhost/berth-capture:" + hex.EncodeToString(sum[:16]), Comment: "captured by Berth", Changes: s.changes(r),
		Config: &container.Config{}, // Podman wants one; what it leaves out is the container's
	})
	if err != nil {
		return environment.ImageIdentity{}, s.explain(limited, err, environment.CodeCreateFailed, "make an image of the sandbox")
	}
	return captureOf(sumOf(made.ID)), nil
}

func captureOf(id string) environment.ImageIdentity {
	if id == "" {
		return environment.ImageIdentity{}
	}
	return environment.ImageIdentity{Kind: environment.ImageLocal, Reference: id, ImageID: id}
}

// captured finds the image that a key gave before; "" for none.
func (s *sandbox) captured(ctx context.Context, key string) (string, error) {
	limited, cancel := s.call(ctx)
	defer cancel()
	found, err := s.ImageList(limited, client.ImageListOptions{Filters: client.Filters{}.
		Add("label", labelImageInstance+"="+s.instance.String(), labelImageKey+"="+key)})
	if err != nil {
		return "", s.explain(ctx, err, environment.CodeEngineUnreachable, "list the captured images")
	}
	for _, image := range found.Items {
		if image.Labels[labelImageInstance] == s.instance.String() && image.Labels[labelImageKey] == key {
			return sumOf(image.ID), nil
		}
	}
	return "", nil
}

// changes take the container's labels off the image, as whatever is made from it
// would inherit them and pass for a sandbox of ours, and put the image's own on.
func (s *sandbox) changes(r environment.CaptureRequest) []string {
	labels := map[string]string{}
	maps.Copy(labels, r.Labels)
	for _, name := range []string{labelInstance, labelLease, labelEnvironment, labelCompany, labelOwner} {
		labels[name] = ""
	}
	labels[labelImageInstance], labels[labelImageKey] = s.instance.String(), r.Key
	var list []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		list = append(list, "LABEL "+strconv.Quote(name)+"="+strconv.Quote(labels[name]))
	}
	return list
}

// DeleteImage deletes an image that Capture made. One that is gone is no error;
// one without the installation's label is KindForbidden; one that a container
// still uses is KindConflict image_in_use.
func (d *Driver) DeleteImage(ctx context.Context, spec environment.Spec, image environment.ImageIdentity) error {
	c, err := readConfig(spec.Config)
	if err != nil {
		return err
	}
	e, err := d.engine(ctx, c, spec)
	if err != nil {
		return err
	}
	if !localImage.MatchString(image.ImageID) {
		return environment.Forbidden("Only an image that Berth captured can be deleted.")
	}
	found, err := e.local(ctx, image.ImageID)
	if err != nil || found == nil {
		return err
	}
	if found.Config == nil || found.Config.Labels[labelImageInstance] != spec.InstanceID.String() {
		return environment.Forbidden(fmt.Sprintf("The image %s was not captured by this installation, so it is left alone.", short(image.ImageID)))
	}
	limited, cancel := e.call(ctx)
	defer cancel()
	_, err = e.ImageRemove(limited, image.ImageID, client.ImageRemoveOptions{PruneChildren: true})
	switch {
	case err == nil || errdefs.IsNotFound(err):
		return nil
	case errdefs.IsConflict(err):
		return environment.Conflict("image_in_use", fmt.Sprintf("A container on %s still uses the image %s.", e.at.shown(), short(image.ImageID))).Because(said{words(err, nil), err})
	}
	return e.explain(ctx, err, environment.CodeCleanupUnconfirmed, "delete the image")
}
