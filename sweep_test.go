package main

import (
	"context"
	"errors"
	"log/slog"
	"testing"
)

func TestPruneIsInBatchesAndBounded(t *testing.T) {
	p := &parts{log: slog.New(slog.DiscardHandler)}
	for name, c := range map[string]struct {
		rows  int
		err   error
		calls int
	}{
		"nothing":                   {0, nil, 1},
		"less than a batch":         {pruneBatch - 1, nil, 1},
		"a batch":                   {pruneBatch, nil, 2},
		"more than a sweep deletes": {pruneBatch * (pruneBatches + 5), nil, pruneBatches},
		"an error":                  {pruneBatch * 5, errors.New("away"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			left, calls := c.rows, 0
			p.prune(t.Context(), "rows", func(_ context.Context, limit int) (int, error) {
				calls++
				if c.err != nil {
					return 0, c.err
				}
				n := min(limit, left)
				left -= n
				return n, nil
			})
			if calls != c.calls {
				t.Errorf("got %d batches, want %d", calls, c.calls)
			}
		})
	}
}
