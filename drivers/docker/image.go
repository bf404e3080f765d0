package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"berth/environment"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// picture is the image that a sandbox is to be made from.
type picture struct {
	imageRef
	use    string // what the engine is asked to make it from
	pulled bool
	policy string
	pinned *environment.ImageIdentity
}

// mayPull reports whether an image that the engine does not have may be fetched.
func (p *picture) mayPull() bool {
	return p.pinned == nil && p.ID == "" && !p.pulled && p.policy != pullNever
}

// choose finds out what to make a sandbox from: the pinned content, else what the
// config names. Mostly the engine is not asked before the container is made.
func (s *sandbox) choose(ctx context.Context, b *board) (*picture, error) {
	if s.spec.Pinned != nil {
		return s.pinned(ctx, *s.spec.Pinned, b)
	}
	r, err := s.config.image()
	if err != nil {
		return nil, err
	}
	p := &picture{imageRef: r, use: r.wire(), policy: s.config.pull()}
	if p.policy == pullAlways && p.ID == "" {
		return p, s.pull(ctx, p, b)
	}
	if !s.thorough() {
		return p, nil
	}
	local, err := s.local(ctx, p.use)
	switch {
	case err != nil:
		return nil, err
	case local == nil && p.mayPull():
		return p, s.pull(ctx, p, b)
	case local == nil:
		return nil, s.noImage(errdefs.ErrNotFound, p)
	}
	return p, nil
}

// local reads an image that the engine has; nil when it has none.
func (e *engine) local(ctx context.Context, name string) (*client.ImageInspectResult, error) {
	limited, cancel := e.call(ctx)
	defer cancel()
	r, err := e.ImageInspect(limited, name)
	switch {
	case errdefs.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, e.explain(ctx, err, environment.CodeEngineUnreachable, "look for the image")
	}
	return &r, nil
}

// pinned finds exactly the content of an identity, and looks up no name. What is
// gone is KindNotFound image_deleted; its detail "proof" says whether who keeps it
// said so, or only could not be asked.
func (s *sandbox) pinned(ctx context.Context, want environment.ImageIdentity, b *board) (*picture, error) {
	p := &picture{pinned: &want, policy: s.config.pull()}
	p.Text = want.Reference
	if want.Kind == environment.ImageLocal || want.Repository == "" || want.Digest == "" {
		p.ID, p.use = want.ImageID, want.ImageID
		if !localImage.MatchString(want.ImageID) {
			return nil, deleted(want, true, "Its identity names no content of this engine.")
		}
		found, err := s.local(ctx, want.ImageID)
		if err == nil && found == nil {
			err = deleted(want, true, fmt.Sprintf("The engine at %s does not have it any more, and no registry does.", s.at.shown()))
		}
		return p, err
	}
	whole := want.Repository + "@" + want.Digest
	r, problem := parseImage(whole)
	if problem != "" {
		return nil, deleted(want, true, "Its identity names no image.")
	}
	p.imageRef = r
	p.Text = want.Reference
	for _, name := range []string{want.ImageID, whole} {
		if name == "" {
			continue
		}
		found, err := s.local(ctx, name)
		if err != nil {
			return nil, err
		}
		if found != nil && holds(found.RepoDigests, r) {
			return s.exactly(p, want, sumOf(found.ID))
		}
	}
	if p.policy == pullNever {
		return nil, deleted(want, false, fmt.Sprintf("The engine at %s does not have it any more, and may not pull it.", s.at.shown()))
	}
	if err := s.pull(ctx, p, b); err != nil {
		if ctx.Err() != nil || environment.CodeOf(err) == environment.CodeDiskLow || environment.CodeOf(err) == environment.CodeEngineUnreachable {
			return nil, err
		}
		e := environment.AsError(err)
		return nil, deleted(want, e.Details["proof"] == true, e.Message).Because(err)
	}
	found, err := s.local(ctx, whole)
	if err != nil {
		return nil, err
	}
	if found == nil || !holds(found.RepoDigests, r) {
		return nil, s.mismatch(p, "the engine holds something else under it")
	}
	return s.exactly(p, want, sumOf(found.ID))
}

// exactly makes a picture of an image's id, when that is the wanted one.
func (s *sandbox) exactly(p *picture, want environment.ImageIdentity, id string) (*picture, error) {
	if want.ImageID != "" && want.ImageID != id {
		return nil, s.mismatch(p, fmt.Sprintf("the digest led to the image %s, and now leads to %s", short(want.ImageID), short(id)))
	}
	p.use = id
	return p, nil
}

func (s *sandbox) mismatch(p *picture, why string) error {
	return environment.Conflict(environment.CodeImageDigestMismatch, fmt.Sprintf("The image %s is not what its digest says: %s.", p.Text, why)).
		Remedy("Do not use it before you know why. Test the environment again when it is right.")
}

func deleted(want environment.ImageIdentity, proof bool, why string) *environment.Error {
	return environment.NewError(environment.KindNotFound, environment.CodeImageDeleted,
		fmt.Sprintf("The image that was qualified (%s) cannot be had any more. %s", want.Reference, why)).
		Remedy("Bring the image back, or choose another and test the environment again.").With("proof", proof)
}

// holds reports whether an engine's list of digests has the one of a reference.
func holds(digests []string, r imageRef) bool {
	return slices.ContainsFunc(digests, func(text string) bool {
		other, problem := parseImage(text)
		return problem == "" && other.name() == r.name() && other.Digest == r.Digest
	})
}

// sumOf is an image's id as it is compared: some engines leave the kind away.
func sumOf(id string) string {
	if len(id) == 64 && !strings.Contains(id, ":") {
		return "sha256:" + id
	}
	return id
}

// found ends the stage of the image.
func (p *picture) found(s *sandbox, b *board) {
	measured := map[string]any{"image": p.Text, "pulled": p.pulled}
	if p.Digest != "" {
		measured["digest"] = p.Digest
	}
	from := "is on the engine"
	if p.pulled {
		from = "was pulled"
	}
	b.passed(fmt.Sprintf("%s %s (%s).", p.Text, from, s.at.shown()), measured)
}

// isNoImage reports whether an engine refused a container for want of its image.
func isNoImage(err error) bool {
	if err == nil {
		return false
	}
	return errdefs.IsNotFound(err) && !noNetwork.MatchString(err.Error())
}

// noNetwork is what engines say of a network that is not there. An image may have
// the word in its name.
var noNetwork = regexp.MustCompile(`(?i)network (\S+ )?not found|no such network|unable to find network`)

// noImage is the error of an image that the engine does not have.
func (s *sandbox) noImage(cause error, p *picture) error {
	e := environment.NewError(environment.KindNotFound, environment.CodeImageNotFound,
		fmt.Sprintf("The engine at %s does not have the image %s.", s.at.shown(), p.Text)).Because(said{words(cause, s.spec.Secrets), cause})
	switch {
	case p.pinned != nil: // it went after it was found
		return deleted(*p.pinned, true, fmt.Sprintf("The engine at %s does not have it any more.", s.at.shown())).Because(e)
	case strings.Contains(p.unnamed(cause.Error()), "platform"):
		return s.noPlatform(p)
	case p.ID != "":
		return e.Remedy("An image that is named by its id is never pulled: bring it to the engine, or name it with its registry.")
	case p.policy == pullNever:
		return e.Remedy("Pull it on the engine, or let Berth pull it.")
	}
	return e
}

// noPlatform is the error of an image that was not built for the wanted platform.
func (s *sandbox) noPlatform(p *picture) error {
	return environment.NewError(environment.KindNotFound, environment.CodeImageNotFound,
		fmt.Sprintf("%s is not there for %s.", p.Text, cmp.Or(s.config.Platform, "the engine's platform"))).
		Remedy("Choose another platform, or an image that was built for this one.")
}

// refused explains why an engine did not make a container.
func (s *sandbox) refused(ctx context.Context, cause error) error {
	err := s.explainTo(ctx, cause, environment.CodeCreateFailed, "make the sandbox", s.spec.Secrets)
	e, ours := errors.AsType[*environment.Error](err)
	if !ours || e.Code != environment.CodeCreateFailed {
		return err
	}
	what := strings.ToLower(cause.Error())
	switch {
	case strings.Contains(what, "storage-opt") || strings.Contains(what, "storage driver") || strings.Contains(what, "pquota"):
		return e.Remedy("This engine cannot limit a sandbox's disk: leave that limit unset.")
	case strings.Contains(what, "runtime"):
		return e.Remedy("Install the runtime on the engine, or choose another.")
	case strings.Contains(what, "network"):
		return e.Remedy("Make the network on the engine, or choose another.")
	case strings.Contains(what, "platform"):
		return e.Remedy("Choose a platform that the image was built for.")
	}
	return e
}
