package leasing

import (
	"context"
	"maps"
	"slices"
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

// Run beats for what this process holds, sweeps what dead servers left and what
// expired, works off the queue of clean-ups, and compares the rows with what
// providers hold, until ctx ends. None of them waits for another.
func (s *Service) Run(ctx context.Context) error {
	var group sync.WaitGroup
	group.Go(func() { s.beats(ctx) })
	group.Go(func() { s.sweeps(ctx) })
	group.Go(func() { s.cleanUps(ctx) })
	group.Go(func() { s.reconciles(ctx) })
	group.Wait()
	return nil
}

// sweeps is the loop of sweep.
func (s *Service) sweeps(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if _, err := s.sweep(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("sweep leases", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Tick takes over a batch of what dead servers left and of what expired and lets
// it go, then works off what of the queue is due. It returns how many leases it
// touched.
func (s *Service) Tick(ctx context.Context) (int, error) {
	n, err := s.sweep(ctx)
	if err != nil {
		return n, err
	}
	var group sync.WaitGroup
	due, err := s.startDue(ctx, &group)
	group.Wait()
	return n + due, err
}

func (s *Service) sweep(ctx context.Context) (int, error) {
	s.endStranded(ctx)
	if err := s.endHalfway(ctx); err != nil {
		return 0, err
	}
	orphans, err := s.store.OrphanedLeases(ctx, s.owner, sweepBatch)
	if err != nil {
		return 0, err
	}
	n := s.each(ctx, orphans, func(l environment.Lease) error {
		return s.endLeft(ctx, l.ID, ending{outcome: environment.LeaseExpired, reason: reasonInterrupted})
	})
	expired, err := s.store.ExpiredLeases(ctx, s.owner, sweepBatch)
	if err != nil {
		return n, err
	}
	n += s.each(ctx, expired, func(l environment.Lease) error {
		if s.beatsFor(l.ID) {
			return nil // the next beat says so
		}
		err := s.endLeft(ctx, l.ID, ending{outcome: environment.LeaseExpired, reason: reasonExpired, shelf: true})
		if environment.CodeOf(err) == environment.CodeLeaseInUse {
			return nil // it is being picked up at this moment
		}
		return err
	})
	return n, nil
}

// halfwayEvery is the time between looks for releases that nobody goes on with.
const halfwayEvery = 30 * time.Second

// endHalfway goes on with releases of this server of which it does not know: it took
// them over, and the answer was lost.
func (s *Service) endHalfway(ctx context.Context) error {
	s.mu.Lock()
	due := !s.now().Before(s.halfway)
	if due {
		s.halfway = s.now().Add(halfwayEvery)
	}
	s.mu.Unlock()
	if !due {
		return nil
	}
	page, err := s.store.Leases(ctx, Filter{Status: environment.LeaseReleasing, Limit: 1000})
	if err != nil {
		return err
	}
	mine := slices.DeleteFunc(page.Items, func(l environment.Lease) bool {
		return l.Owner != s.owner || !s.free(l) || s.now().Sub(l.LastUsedAt) < cleanupHold
	})
	s.each(ctx, mine, func(l environment.Lease) error { return s.endLeft(ctx, l.ID, ending{outcome: meant(l)}) })
	return nil
}

// endLeft ends a lease that nobody else will end: what does not go through now is
// tried again by this server as long as it lives.
func (s *Service) endLeft(ctx context.Context, id uuid.UUID, e ending) error {
	lease, err := s.finish(ctx, environment.System(), id, environment.Spec{}, e)
	if e.shelf = false; lease.Status.InUse() {
		s.strand(id, e)
	}
	return err
}

// each does work for leases, several at once so that one slow target does not hold
// up the rest.
func (s *Service) each(ctx context.Context, leases []environment.Lease, work func(environment.Lease) error) int {
	n := 0
	var group sync.WaitGroup
	slots := make(chan struct{}, sweepAtOnce)
	for _, l := range leases {
		if ctx.Err() != nil {
			break
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

func (s *Service) strand(id uuid.UUID, e ending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stranded[id] = e
}

// endStranded ends the rows that could not be written before.
func (s *Service) endStranded(ctx context.Context) {
	s.mu.Lock()
	left := maps.Clone(s.stranded)
	s.mu.Unlock()
	for id, e := range left {
		lease, err := s.finish(ctx, environment.System(), id, environment.Spec{}, e)
		if err != nil && crew.Transient(err) {
			return
		}
		if lease.Status.InUse() {
			continue
		}
		s.mu.Lock()
		delete(s.stranded, id)
		s.mu.Unlock()
	}
}
