package docker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// Acquire makes a sandbox, or takes up the one that an earlier call made for the
// same lease. One deadline, the startup budget, bounds all of it. When it fails,
// what it made is removed before it returns, which environment.Undone says; where
// that cannot be confirmed the error has the detail providerLeaseId.
//
// Codes: engine_unreachable, engine_denied, engine_too_old, image_not_found,
// image_denied, image_digest_mismatch, image_deleted, registry_unreachable,
// create_failed, start_failed, disk_low, timed_out, credential_missing, secret_missing,
// secret_disabled; of an engine behind SSH also those of the ssh driver.
func (d *Driver) Acquire(ctx context.Context, spec environment.Spec) (environment.Ref, error) {
	if spec.IdempotencyKey == "" || spec.InstanceID == uuid.Nil {
		return environment.Ref{}, unlabelled()
	}
	ctx, cancel := d.budget(ctx, spec)
	defer cancel()
	b := newBoard(d.now, spec.Report)
	ref, err := d.acquire(ctx, spec, b)
	if err != nil {
		b.failed(err)
		return environment.Ref{}, err
	}
	return ref, nil
}

// budget bounds a start by what its config allows.
func (d *Driver) budget(ctx context.Context, spec environment.Spec) (context.Context, context.CancelFunc) {
	budget := d.StartupBudget(spec.Config)
	return context.WithTimeoutCause(ctx, budget, environment.NewError(environment.KindTimeout, environment.CodeTimedOut,
		fmt.Sprintf("The sandbox was not ready within its startup time of %s.", budget)).
		Remedy("Allow more startup time, use a smaller image, or pull it on the engine beforehand."))
}

func (d *Driver) acquire(ctx context.Context, spec environment.Spec, b *board) (environment.Ref, error) {
	b.began("engine")
	s, err := d.sandboxOf(ctx, environment.Ref{Config: spec.Config, Spec: spec})
	if err != nil {
		return environment.Ref{}, err
	}
	if s.thorough() { // an engine that is known may have gone
		if err := s.greet(ctx); err != nil {
			return environment.Ref{}, err
		}
	}
	b.passed(fmt.Sprintf("The engine at %s answers (%s).", s.at.shown(), s.version()), s.measured())
	b.began("image")
	p, err := s.choose(ctx, b)
	if err != nil {
		return environment.Ref{}, err
	}
	made, err := s.create(ctx, p, b)
	if err != nil {
		return environment.Ref{}, d.undone(ctx, s, err)
	}
	ref, err := s.bringUp(ctx, made, b)
	if err != nil {
		return environment.Ref{}, d.undone(ctx, s, err)
	}
	return ref, nil
}

func (e *engine) measured() map[string]any {
	return map[string]any{"engine": e.at.shown(), "version": e.version(), "apiVersion": e.ClientVersion()}
}

// thorough reports whether somebody wants to know more than that it works: a
// probe is told what else can be found out, at the cost of a few calls more.
func (s *sandbox) thorough() bool { return s.spec.OwnerKind == environment.OwnerProbe }

// create makes the container and reads what it became. The engine is not
// interrupted in it: a container whose making was cut off would have no id here.
func (s *sandbox) create(ctx context.Context, p *picture, b *board) (container.InspectResponse, error) {
	id, err := s.ask(ctx, p.use)
	if isNoImage(err) && p.mayPull() && ctx.Err() == nil {
		if err = s.pull(ctx, p, b); err != nil {
			return container.InspectResponse{}, err
		}
		id, err = s.ask(ctx, p.use)
	}
	switch s.id = id; {
	case isNoImage(err):
		return container.InspectResponse{}, s.noImage(err, p)
	case errors.Is(err, errNotAsked):
		return container.InspectResponse{}, late(ctx, "The sandbox was not made in time.")
	}
	p.found(s, b)
	b.began("create")
	made, word := container.InspectResponse{}, "was made"
	if err != nil {
		made, err = s.uncreated(ctx, err)
		word = "was there already"
	} else {
		made, err = s.inspect(ctx)
	}
	if err != nil {
		return made, err
	}
	b.passed(fmt.Sprintf("The sandbox %s %s.", short(made.ID), word),
		map[string]any{"providerLeaseId": made.ID, "name": nameOf(s.lease), "imageId": sumOf(made.Image)})
	return made, nil
}

// errNotAsked is a context that ended before the engine was asked for anything.
var errNotAsked = errors.New("not asked")

// ask asks for a container and waits for the answer even when ctx ends.
func (s *sandbox) ask(ctx context.Context, image string) (string, error) {
	if ctx.Err() != nil {
		return "", errNotAsked
	}
	limited, cancel := s.call(context.WithoutCancel(ctx))
	defer cancel()
	r, err := s.ContainerCreate(limited, s.container(image))
	return r.ID, err
}

// uncreated looks what became of a container that the engine did not make now: one
// that an earlier call made for this lease is taken up, and so is one whose making
// was not answered.
func (s *sandbox) uncreated(ctx context.Context, cause error) (container.InspectResponse, error) {
	s.id = nameOf(s.lease)
	made, err := s.inspect(context.WithoutCancel(ctx))
	switch environment.CodeOf(err) {
	case "":
		s.id = made.ID
		return made, nil
	case environment.CodeSandboxMismatch:
		s.id = "" // not ours to remove
		return made, environment.Conflict(environment.CodeCreateFailed,
			fmt.Sprintf("Another container on %s has the name %s already.", s.at.shown(), nameOf(s.lease)))
	case environment.CodeSandboxGone:
		if !unanswered(cause) {
			s.id = "" // it was refused
		}
	}
	return made, s.refused(ctx, cause)
}

// unanswered reports whether it is unknown what became of a call.
func unanswered(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || client.IsErrConnectionFailed(err) || broken(err)
}

// undone removes what a failed start left, and returns the failure; with where to
// look for the rest when that could not be done.
func (d *Driver) undone(ctx context.Context, s *sandbox, cause error) error {
	if s.id == "" {
		return cause
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.limits.Cleanup)
	defer cancel()
	switch err := s.destroy(ctx); {
	case err == nil:
		return &environment.Undone{Err: cause, Receipt: d.receipt(s, s.id, outcomeDestroyed)}
	case environment.CodeOf(err) == environment.CodeSandboxGone:
		return cause
	}
	e, ok := errors.AsType[*environment.Error](cause)
	if !ok {
		e = environment.Unavailable(environment.CodeLeaseAcquireFailed, "The sandbox was not wanted any more, and could not be removed.").Because(cause)
	}
	return e.With("providerLeaseId", s.id)
}

// bringUp starts a container and waits until it can be used.
func (s *sandbox) bringUp(ctx context.Context, made container.InspectResponse, b *board) (environment.Ref, error) {
	b.began("start")
	if !made.State.Running && !rooted(made.Config.User) && !s.config.ReadOnlyRoot {
		if err := s.furnish(ctx); err != nil {
			return environment.Ref{}, err
		}
	}
	identity := make(chan *environment.ImageIdentity, 1)
	go func() { // it is asked for while the container starts; bounded by its call
		found, err := s.identity(ctx, made.Image)
		if err != nil {
			identity <- nil
			return
		}
		identity <- &found
	}()
	err := s.start(ctx, made, b)
	found := <-identity
	if err != nil {
		return environment.Ref{}, err
	}
	return s.refOf(made, s.spec.Config, found), nil
}

// stopTime is how long a sandbox may take to stop before it is killed.
const stopTime = 5 * time.Second
