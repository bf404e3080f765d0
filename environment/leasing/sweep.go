package leasing

import (
	"context"
	"maps"
	"sync"
	"time"

	"berth/environment"
	"berth/environment/crew"

	"github.com/google/uuid"
)

const (
	sweepEvery  = 2 * time.Second
	sweepBatch  = 50
	sweepAtOnce = 8
)

// Run sweeps what dead servers left until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if _, err := s.Tick(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("sweep leases", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Tick takes over a batch of what dead servers left and lets it go, then tries
// again what this server could not clean up before. It returns how many leases
// it touched.
func (s *Service) Tick(ctx context.Context) (int, error) {
	s.endStranded(ctx)
	orphans, err := s.store.OrphanedLeases(ctx, s.owner, sweepBatch)
	if err != nil {
		return 0, err
	}
	n := s.each(ctx, orphans, func(l environment.Lease) error {
		_, err := s.Finish(ctx, l.ID, environment.Spec{}, environment.LeaseExpired, interrupted)
		return err
	})
	filter := Filter{Status: environment.LeasePendingCleanup, Limit: 1000}
	page, err := s.store.Leases(ctx, filter)
	if err != nil {
		return n, err
	}
	n += s.each(ctx, page.Items, func(l environment.Lease) error {
		_, err := s.letGo(ctx, environment.System(), l, environment.Spec{})
		return err
	})
	return n, nil
}

// each does work for the leases of this server whose time has come, several at
// once so that one slow target does not hold up the rest.
func (s *Service) each(ctx context.Context, leases []environment.Lease, work func(environment.Lease) error) int {
	n := 0
	var group sync.WaitGroup
	slots := make(chan struct{}, sweepAtOnce)
	for _, l := range leases {
		if l.Owner != s.owner || !cleanupOf(l.Metadata).due(s.now()) || ctx.Err() != nil {
			continue
		}
		n++
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if err := work(l); err != nil {
				s.log.Error("let go of a lease", "lease", l.ID, "err", err)
			}
		})
	}
	group.Wait()
	return n
}

func (s *Service) strand(id uuid.UUID, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stranded[id] = reason
}

// endStranded ends the rows that could not be written before.
func (s *Service) endStranded(ctx context.Context) {
	s.mu.Lock()
	left := maps.Clone(s.stranded)
	s.mu.Unlock()
	for id, reason := range left {
		if _, err := s.Finish(ctx, id, environment.Spec{}, environment.LeaseFailed, reason); err != nil && crew.Transient(err) {
			return
		}
		s.mu.Lock()
		delete(s.stranded, id)
		s.mu.Unlock()
	}
}
