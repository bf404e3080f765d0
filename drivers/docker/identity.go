package docker

import (
	"context"
	"fmt"
	"slices"

	"berth/environment"
)

// Identity reads off the live container which image it was made from, and asks the
// engine which digest that is known by.
func (d *Driver) Identity(ctx context.Context, ref environment.Ref) (environment.ImageIdentity, error) {
	s, err := d.sandboxOf(ctx, ref)
	if err != nil {
		return environment.ImageIdentity{}, err
	}
	made, err := s.inspect(ctx)
	if err != nil {
		return environment.ImageIdentity{}, err
	}
	return s.identity(ctx, made.Image)
}

// identity of an image's id. One that came from no registry is itself; of several
// digests the one that was asked for, else that of the configured repository.
func (s *sandbox) identity(ctx context.Context, image string) (environment.ImageIdentity, error) {
	image = sumOf(image)
	found, err := s.local(ctx, image)
	if err != nil {
		return environment.ImageIdentity{}, err
	}
	if found == nil {
		return environment.ImageIdentity{}, environment.NewError(environment.KindNotFound, environment.CodeImageNotFound,
			fmt.Sprintf("The engine at %s has no image %s.", s.at.shown(), short(image)))
	}
	return identify(s.config.Image, s.spec.Pinned, image, found.RepoDigests), nil
}

func identify(reference string, pinned *environment.ImageIdentity, image string, digests []string) environment.ImageIdentity {
	wanted, _ := parseImage(reference) // one that is none has no digest
	name, digest := wanted.name(), wanted.Digest
	if pinned != nil && pinned.Kind == environment.ImageDigest {
		name, digest = pinned.Repository, pinned.Digest
	}
	var known []imageRef
	for _, text := range digests {
		if r, problem := parseImage(text); problem == "" && r.Digest != "" {
			known = append(known, r)
		}
	}
	identity := environment.ImageIdentity{Kind: environment.ImageLocal, Reference: reference, ImageID: image}
	if wanted.ID != "" {
		return identity
	}
	at := slices.IndexFunc(known, func(r imageRef) bool { return r.name() == name && (digest == "" || r.Digest == digest) })
	if at < 0 {
		return identity
	}
	identity.Kind, identity.Repository, identity.Digest = environment.ImageDigest, known[at].name(), known[at].Digest
	return identity
}
