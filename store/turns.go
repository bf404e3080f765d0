package store

import (
	"context"
	"sync"

	"github.com/google/uuid"
)

// turns lets what would wait for one row of the database wait here, where a waiter
// holds no connection that others need to go on.
type turns struct {
	mu    sync.Mutex
	lines map[uuid.UUID]*line
}

// line is who waits for a row, and who is at it.
type line struct {
	turn chan struct{} // full while somebody is at it
	n    int
}

// do does work when it is id's only one of this process.
func (t *turns) do(ctx context.Context, id uuid.UUID, work func() error) error {
	t.mu.Lock()
	l := t.lines[id]
	if l == nil {
		l = &line{turn: make(chan struct{}, 1)}
		t.lines[id] = l
	}
	l.n++
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if l.n--; l.n == 0 {
			delete(t.lines, id)
		}
	}()
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-l.turn }()
	return work()
}
