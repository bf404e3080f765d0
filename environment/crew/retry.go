package crew

import (
	"context"
	"time"

	"berth/environment"
)

// Retry calls try until it returns nil or an error that again refuses, waiting
// longer each time, from 50 ms to 2 s. It returns the last error when ctx ends.
// try gets a context that outlives ctx by a little, so that a last write goes
// through while a server stops.
func Retry(ctx context.Context, again func(error) bool, try func(context.Context) error) error {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := once(ctx, try)
		if err == nil || !again(err) {
			return err
		}
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return err
		}
	}
}

func once(ctx context.Context, try func(context.Context) error) error {
	attempt, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptLimit)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastLimit, cancel) })()
	return try(attempt)
}

// Limits of one attempt, and of the last one once ctx has ended.
const (
	attemptLimit = 10 * time.Second
	lastLimit    = 1500 * time.Millisecond
)

// Transient tells whether what failed may go through later: a supplier is away
// or something unforeseen happened. A refusal stays a refusal.
func Transient(err error) bool {
	switch environment.KindOf(err) {
	case environment.KindUnavailable, environment.KindTimeout, environment.KindInternal:
		return true
	}
	return false
}
