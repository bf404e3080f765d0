package secrets

import (
	"context"
	"time"

	"berth/environment"
)

// sweepEvery is the time between looks for retired secrets that nothing needs.
const sweepEvery = 5 * time.Second

// Run is the service's loop, until ctx ends: it reads the keyset again when it was
// turned over, and deletes retired secrets that nothing needs any more.
func (s *Service) Run(ctx context.Context, feed environment.Feed) error {
	turned, leave := feed.Subscribe(environment.KeysetSubject)
	defer leave()
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	if len(s.keyset.Fingerprints()) > 1 {
		s.log.Warn("a turn of the master key is not at its end; unless another server is at it, turn the key over again: berth secret rotate-key")
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-turned:
			s.follow(ctx)
		case <-tick.C:
			if _, err := s.Tick(ctx); err != nil && ctx.Err() == nil {
				s.log.Warn("sweep retired secrets", "err", err)
			}
		}
	}
}

// Tick deletes retired secrets that nothing needs any more and returns how many.
func (s *Service) Tick(ctx context.Context) (int, error) {
	n, err := s.store.SweepSecrets(ctx)
	if n > 0 {
		s.log.Info("retired secrets deleted", "secrets", n)
	}
	return n, err
}

// follow reads the keyset again. A server with a stale copy of the file cannot
// serve secrets, and says so.
func (s *Service) follow(ctx context.Context) {
	if err := s.keyset.Reload(); err != nil {
		s.log.Error("read the keyset again", "err", err)
		return
	}
	bound, err := s.store.KeysetFingerprint(ctx)
	if err == nil {
		err = s.holds(bound)
	}
	if err != nil && ctx.Err() == nil {
		s.log.Error("follow a turn of the master key", "err", err)
	}
}
