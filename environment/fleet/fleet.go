// Package fleet keeps this server's row among the servers of one database: its
// heartbeat is how the others know that what it owns is still looked after.
package fleet

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"
)

// Beat is the time between heartbeats; a server without one for DeadAfter (by
// the database's clock) is dead, and what it owned is taken over.
const (
	Beat      = 2 * time.Second
	DeadAfter = 10 * time.Second
)

// Store is what the fleet needs of the database.
type Store interface {
	// RegisterServer inserts this server's row. Every earlier server of the
	// same node (one data folder, one lock) is dead from now on.
	RegisterServer(ctx context.Context, id, node uuid.UUID, version string) error
	BeatServer(ctx context.Context, id uuid.UUID) error
	// RetireServer marks this server dead: it stopped in good order.
	RetireServer(ctx context.Context, id uuid.UUID) error
}

// Member is this server.
type Member struct {
	ID    uuid.UUID
	store Store
	log   *slog.Logger
}

// Join registers a server and returns it.
func Join(ctx context.Context, store Store, id, node uuid.UUID, version string, log *slog.Logger) (*Member, error) {
	if err := store.RegisterServer(ctx, id, node, version); err != nil {
		return nil, err
	}
	return &Member{ID: id, store: store, log: log}, nil
}

// Run beats until ctx ends, then retires.
func (m *Member) Run(ctx context.Context) error {
	tick := time.NewTicker(Beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			return m.store.RetireServer(last, m.ID)
		case <-tick.C:
			if err := m.store.BeatServer(ctx, m.ID); err != nil && ctx.Err() == nil {
				m.log.Warn("heartbeat", "err", err)
			}
		}
	}
}
