package handlers

import (
	"context"
	"errors"
	"time"

	"berth/environment"
)

// askAgainEvery is how often whoever is served for long is asked for again, also
// when no word of a change arrived.
const askAgainEvery = 2 * time.Second

// standing is an actor who is served for long: a stream, a wait. What the actor
// showed may be revoked, and roles be taken away, meanwhile.
type standing struct {
	server *server
	actor  environment.Actor
	woken  <-chan struct{}  // something about the credential changed
	due    <-chan time.Time // or it is time to ask; both nil for who showed nothing
	// pending says that the actor must be asked for before the next read.
	pending bool
}

// standingOf watches over an actor until the returned function is called.
func (s *server) standingOf(actor environment.Actor) (*standing, func()) {
	if actor.Credential.Kind == environment.CredentialNone || s.Identity == nil {
		return &standing{server: s, actor: actor}, func() {}
	}
	woken, unsubscribe := s.Feed.Subscribe(actor.Credential.ID)
	ticker := time.NewTicker(s.askAgain)
	return &standing{server: s, actor: actor, woken: woken, due: ticker.C}, func() {
		ticker.Stop()
		unsubscribe()
	}
}

// confirm asks again when it is time to; until it could, it stays so.
func (w *standing) confirm(ctx context.Context) error {
	select {
	case <-w.woken:
		w.pending = true
	case <-w.due:
		w.pending = true
	default:
	}
	if !w.pending {
		return nil
	}
	if err := w.again(ctx); err != nil {
		return err
	}
	w.pending = false
	return nil
}

// again asks whether the credential still counts, and takes the roles of now.
func (w *standing) again(ctx context.Context) error {
	if w.due == nil {
		return nil
	}
	actor, err := w.server.Identity.Again(ctx, w.actor)
	if err == nil {
		w.actor = actor
	}
	return err
}

// whyNoMore says why an actor is served no more, by what asking again gave; ""
// when it is for another reason than the actor's rights.
func whyNoMore(err error) string {
	switch environment.KindOf(err) {
	case environment.KindUnauthenticated:
		return "signed_out"
	case environment.KindForbidden, environment.KindNotFound:
		return "forbidden"
	}
	return ""
}

// whileAllowed is ctx that also ends when the server stops, with errStopping for
// its cause, and when the actor may no longer, with what may returned.
func (s *server) whileAllowed(ctx context.Context, actor environment.Actor, may func(context.Context, environment.Actor) error) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w, unwatch := s.standingOf(actor)
		defer unwatch()
		for {
			select {
			case <-ctx.Done():
				return
			case <-s.Stopping:
				cancel(errStopping)
				return
			case <-w.woken:
			case <-w.due:
			}
			err := w.again(ctx)
			if err == nil {
				err = may(ctx, w.actor)
			}
			if whyNoMore(err) != "" && ctx.Err() == nil {
				cancel(err)
				return
			}
		}
	}()
	return ctx, func() { cancel(context.Canceled); <-done }
}

// refusedMeanwhile is why ctx of whileAllowed ended, when the actor's rights are
// the reason; nil else.
func refusedMeanwhile(ctx context.Context) error {
	cause := context.Cause(ctx)
	if e, ok := errors.AsType[*environment.Error](cause); ok && whyNoMore(e) != "" {
		return cause
	}
	return nil
}
