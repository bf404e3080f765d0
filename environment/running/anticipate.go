package running

import (
	"context"

	"berth/environment"
)

// anticipation is what a run needs, gathered while its rows are being written, and
// what its driver began meanwhile.
type anticipation struct {
	cancel   context.CancelFunc
	gathered chan struct{} // closed when the rest is set
	goods    goods
	err      error
	done     func()
}

// anticipate begins to gather what a run needs, and tells the driver of it then.
// open says what the run carries. Its dismiss must be called. A secret that is
// opened for a run whose row cannot be written then is noted all the same.
func (s *Service) anticipate(ctx context.Context, run environment.Run, open func(environment.Run) (cargo, error)) *anticipation {
	ctx, cancel := context.WithCancel(ctx)
	a := &anticipation{cancel: cancel, gathered: make(chan struct{}), done: func() {}}
	go func() { // dismiss waits for it
		defer close(a.gathered)
		if a.goods, a.err = s.gather(ctx, run, open); a.err == nil && ctx.Err() == nil {
			a.done = s.getReady(run, a.goods.spec)
		}
	}()
	return a
}

// wait returns what was gathered.
func (a *anticipation) wait(ctx context.Context) (goods, error) {
	select {
	case <-a.gathered:
		return a.goods, a.err
	case <-ctx.Done():
		return goods{}, context.Cause(ctx)
	}
}

// dismiss ends what is under way, and what the driver began and no work came for.
func (a *anticipation) dismiss() {
	a.cancel()
	<-a.gathered
	a.done()
}

// getReady lets the driver begin with what needs no lease.
func (s *Service) getReady(run environment.Run, spec environment.Spec) (done func()) {
	readier, err := environment.Ability[environment.Readier](s.drivers, run.Key())
	if err != nil {
		return func() {} // most need no time for it
	}
	spec.RunID = &run.ID
	return readier.Ready(spec)
}
