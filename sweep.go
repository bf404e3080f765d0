package main

import (
	"context"
	"time"
)

const (
	sweepEvery   = 10 * time.Minute // between two sweeps
	pruneBatch   = 1000             // rows that one transaction deletes
	pruneBatches = 50               // of one kind in one sweep; the next goes on
)

// sweepExpired is a loop: it deletes sessions, links and failed sign-ins that
// count no more, and what is kept for a time only (environment.DraftsKept and
// the others there), at the start and from time to time. Nothing waits for it:
// what expired counts for nothing from that moment on.
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
		p.prune(ctx, "old probes of drafts", p.base.db.PruneDrafts)
		p.prune(ctx, "old openings of secrets", p.base.db.PruneAccesses)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// prune deletes in batches, so that it holds nobody up. What fails is tried
// again by the next sweep.
func (p *parts) prune(ctx context.Context, what string, batch func(context.Context, int) (int, error)) {
	total := 0
	for range pruneBatches {
		n, err := batch(ctx, pruneBatch)
		if err != nil {
			if ctx.Err() == nil {
				p.log.Warn("delete "+what, "err", err)
			}
			break
		}
		if total += n; n < pruneBatch {
			break
		}
	}
	if total > 0 {
		p.log.Info("deleted "+what, "rows", total)
	}
}
