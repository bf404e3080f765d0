package crew

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"berth/environment"
)

// Call runs code that is not trusted to keep its word, such as a driver: a
// panic becomes an error of KindInternal, and when ctx has ended and patience
// passed since, Call returns ctx's cause without waiting any longer. What fn
// does after that is nobody's: it must keep to itself.
func Call[T any](ctx context.Context, patience time.Duration, fn func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if v := recover(); v != nil {
				a.err = environment.NewError(environment.KindInternal, "internal", "The driver broke down.").
					Because(fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
			}
			done <- a
		}()
		a.value, a.err = fn()
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case a := <-done:
		return a.value, a.err
	case <-late.C:
		var none T
		return none, fmt.Errorf("no return %s after the end: %w", patience, context.Cause(ctx))
	}
}
