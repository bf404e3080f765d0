package leasing

import (
	"context"
	"slices"
	"sync"
	"time"

	"berth/environment"
	"berth/environment/crew"

	"github.com/google/uuid"
)

const (
	// ReconcileEvery is the time between comparisons of rows with what providers
	// hold.
	ReconcileEvery = time.Minute
	// strangerAge is how old an object is before it counts as nobody's.
	strangerAge  = time.Minute
	listLimit    = 20 * time.Second
	placeLimit   = 45 * time.Second // of all configurations of one place
	placesAtOnce = 4
)

// reconciles is the loop of Reconcile. The first comparison is as soon as the
// server is up.
func (s *Service) reconciles(ctx context.Context) {
	tick := time.NewTicker(s.opts.ReconcileEvery)
	defer tick.Stop()
	for {
		if _, err := s.Reconcile(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("compare leases with what providers hold", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Reconcile compares the rows with what each provider lists under this
// installation's label, both ways: what no lease holds is removed, and what a lease
// holds but the provider does not any more is noted, and after a second look
// believed. A place that cannot be asked is left out. It returns how many objects
// and rows it put right.
func (s *Service) Reconcile(ctx context.Context) (int, error) {
	places, err := s.places(ctx)
	if err != nil {
		return 0, err
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	n := 0
	slots := make(chan struct{}, placesAtOnce)
	for _, p := range places {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			done := s.compare(ctx, p)
			mu.Lock()
			defer mu.Unlock()
			n += done
		})
	}
	group.Wait()
	return n, nil
}

// place is an engine or account, with the configurations that lead to it.
type place struct {
	key     environment.DriverKey
	name    string
	driver  environment.Driver
	lister  environment.Lister
	sources []Source
}

// places are where this installation may hold something and can ask.
func (s *Service) places(ctx context.Context) ([]*place, error) {
	sources, err := s.store.Sources(ctx)
	if err != nil {
		return nil, err
	}
	var all []*place
	for _, source := range sources {
		key := environment.KeyOf(source.Driver, environment.ProviderOf(source.Config))
		driver, ok := s.drivers.Driver(key)
		lister, can := driver.(environment.Lister)
		if !ok || !can {
			continue
		}
		name := lister.Place(source.Config)
		i := slices.IndexFunc(all, func(p *place) bool { return p.key == key && p.name == name })
		if i < 0 {
			all = append(all, &place{key: key, name: name, driver: driver, lister: lister})
			i = len(all) - 1
		}
		all[i].sources = append(all[i].sources, source)
	}
	return all, nil
}

// list asks a place what it holds, by the first configuration that gets an answer.
// One place that is down holds the others up for placeLimit at most, however many
// configurations lead there.
func (s *Service) list(ctx context.Context, p *place) ([]environment.Held, environment.Spec, error) {
	ctx, cancel := context.WithTimeout(ctx, placeLimit)
	defer cancel()
	var last error
	for _, source := range p.sources {
		spec := environment.Spec{Driver: source.Driver, Config: source.Config}
		if s.specs != nil {
			if spec, last = s.specs.CleanupSpec(ctx, source.EnvironmentID, source.CompanyID, source.Driver, source.Config); last != nil {
				continue
			}
		}
		spec.InstanceID = s.opts.InstanceID
		limited, cancel := context.WithTimeout(ctx, listLimit)
		held, err := crew.Call(limited, patience, func() ([]environment.Held, error) { return p.lister.List(limited, spec) })
		cancel()
		if last = err; err == nil {
			return held, spec, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, environment.Spec{}, last
}

// compare puts one place right. The list comes first: whatever is on it had its
// row before it was made.
func (s *Service) compare(ctx context.Context, p *place) int {
	before, err := s.store.HeldLeases(ctx, p.key)
	if err != nil {
		s.log.Warn("read what leases hold", "driver", p.key, "err", err)
		return 0
	}
	held, spec, err := s.list(ctx, p)
	if err != nil {
		if ctx.Err() == nil {
			s.log.Warn("a place cannot be asked what it holds", "driver", p.key, "place", p.name, "err", err)
		}
		return 0
	}
	n := s.removeStrangers(ctx, p, spec, held)
	for _, l := range before {
		n += s.noteGone(ctx, p, l, held)
		n += s.stopKept(ctx, p, l, held)
	}
	return n
}

// removeStrangers removes what is ours by its label and no lease's.
func (s *Service) removeStrangers(ctx context.Context, p *place, spec environment.Spec, held []environment.Held) int {
	var ids []uuid.UUID
	for _, h := range held {
		if id, err := uuid.Parse(h.LeaseKey); err == nil {
			ids = append(ids, id)
		}
	}
	if len(held) == 0 {
		return 0
	}
	// The makers first: an object of a lease that has ended by then is held by
	// another from then on, or by none ever.
	var makers, holders []environment.Lease
	var err error
	if len(ids) > 0 {
		makers, err = s.store.LeasesByID(ctx, ids)
	}
	if err == nil {
		holders, err = s.store.HeldLeases(ctx, p.key)
	}
	if err != nil {
		s.log.Warn("read whose the objects of a place are", "driver", p.key, "err", err)
		return 0
	}
	n := 0
	for _, h := range held {
		if maker, why := s.stranger(h, holders, makers); why != "" && ctx.Err() == nil && s.remove(ctx, p, spec, h, maker, why) {
			n++
		}
	}
	return n
}

// stranger says why an object is no lease's; "" when it may be one's.
func (s *Service) stranger(h environment.Held, holders, makers []environment.Lease) (*environment.Lease, string) {
	if s.now().Sub(h.CreatedAt) < strangerAge {
		return nil, ""
	}
	// Whatever a row calls the place: one engine is reached by several names.
	holds := func(l environment.Lease) bool { return l.ProviderID != nil && *l.ProviderID == h.ProviderID }
	if slices.ContainsFunc(holders, holds) {
		return nil, ""
	}
	i := slices.IndexFunc(makers, func(l environment.Lease) bool { return l.ID.String() == h.LeaseKey })
	if i < 0 {
		return nil, "no_lease"
	}
	switch maker := makers[i]; {
	case maker.Status.Ended():
		return &maker, "lease_ended"
	case (maker.Status == environment.LeaseActive || maker.Status == environment.LeaseRetained) && maker.ProviderID != nil && !holds(maker):
		return &maker, "duplicate"
	}
	return nil, ""
}

// isIn reports whether what a lease holds is in a place. One that does not know is
// taken to be.
func (s *Service) isIn(p *place, l environment.Lease) bool {
	return l.ObjectKey == nil || l.ProviderID == nil || *l.ObjectKey == objectIn(p.key, p.name, *l.ProviderID)
}

// remove destroys exactly one object.
func (s *Service) remove(ctx context.Context, p *place, spec environment.Spec, h environment.Held, maker *environment.Lease, why string) bool {
	ref := environment.Ref{Driver: p.key.Driver, Provider: p.key.Provider, ProviderID: h.ProviderID, Config: spec.Config,
		LeaseKey: h.LeaseKey, InstanceID: s.opts.InstanceID, Spec: spec}
	ref.Spec.IdempotencyKey = h.LeaseKey
	receipt, err := s.callRelease(ctx, ref, environment.Destroy, ReleaseLimit)
	if err == nil {
		err = confirm(environment.Lease{Driver: p.key.Driver}, ref, environment.Destroy, receipt)
	}
	if err != nil {
		s.log.Warn("remove what no lease holds", "driver", p.key, "place", p.name, "provider_id", h.ProviderID, "lease", h.LeaseKey, "why", why, "err", err)
		return false
	}
	s.log.Warn("removed what no lease holds", "driver", p.key, "place", p.name, "provider_id", h.ProviderID, "lease", h.LeaseKey, "why", why)
	entry := environment.Activity{ID: environment.NewID(), Action: "environment.sandbox_orphan_removed", EntityType: "sandbox", EntityID: h.ProviderID,
		Details: map[string]any{"driver": p.key.Driver, "provider": p.key.Provider, "leaseId": h.LeaseKey, "why": why, "outcome": receipt.Outcome}, CreatedAt: s.now()}
	if maker != nil {
		entry.CompanyID = &maker.CompanyID
	}
	if err := s.store.Record(ctx, entry.By(environment.System())); err != nil && ctx.Err() == nil {
		s.log.Warn("note what was removed", "provider_id", h.ProviderID, "err", err)
	}
	return true
}
