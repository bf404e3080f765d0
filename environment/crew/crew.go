// Package crew gives goroutines that outlive a request an owner: the loop that
// hands them their context and waits for their end.
package crew

import (
	"context"
	"sync"
)

// Crew is the goroutines of one loop. The zero value is closed: Open it.
type Crew struct {
	mu    sync.Mutex
	begin func(work func(context.Context)) // nil while closed
	wg    sync.WaitGroup
}

// Open lets work begin. Each work gets ctx; ending it tells all to stop.
func (c *Crew) Open(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begin = func(work func(context.Context)) { c.wg.Go(func() { work(ctx) }) }
}

// Go begins work in a goroutine of its own and returns true; false, without
// having begun it, while the crew is closed.
func (c *Crew) Go(work func(context.Context)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begin == nil {
		return false
	}
	c.begin(work)
	return true
}

// IsOpen tells whether Go would begin work now.
func (c *Crew) IsOpen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begin != nil
}

// Close refuses further work and returns when all that began has ended.
func (c *Crew) Close() {
	c.mu.Lock()
	c.begin = nil
	c.mu.Unlock()
	c.wg.Wait()
}
