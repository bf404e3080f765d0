package main

import (
	"context"
	"time"
)

// sweepEvery is the time between two sweeps of what expired.
const sweepEvery = 10 * time.Minute

// sweepExpired is a loop: it deletes sessions, links and failed sign-ins that
// count no more, at the start and from time to time. Nothing waits for it: what
// expired counts for nothing from that moment on.
func (p *parts) sweepExpired(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		n, err := p.base.db.SweepExpired(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			p.log.Warn("sweep what expired", "err", err)
		case n > 0:
			p.log.Info("swept what expired", "rows", n)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
