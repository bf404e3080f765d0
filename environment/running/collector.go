package running

import (
	"context"
	"errors"
	"sync"
	"time"

	"berth/environment"
	"berth/environment/crew"
)

// Numbers of the way of output into the database.
const (
	maxQueued  = 1 << 20                 // bytes that wait; a driver that brings more is made to wait
	goodBatch  = 32 << 10                // enough to be written at once, and the longest chunk
	writePause = 25 * time.Millisecond   // the least time between two writes of less than that
	storeLimit = 5 * time.Minute         // that output waits for the database, beyond the grace
	drainLimit = 1500 * time.Millisecond // that a server which stops waits for the last write
)

var errOutputClosed = errors.New("output after the run's end")

// collector takes output from a driver and stores it in order. The first byte
// is written at once; while one write is on its way the next gathers, so that a
// flood makes few big writes and a slow database slows the driver down instead
// of filling the memory.
type collector struct {
	write func(context.Context, []environment.LogChunk) error
	limit time.Duration

	mu      sync.Mutex
	streams map[environment.Stream]*filter
	queue   []environment.LogChunk
	queued  int  // bytes in queue and in the write under way
	urgent  bool // somebody waits for the queue to be empty
	err     error
	changed chan struct{} // closed and replaced whenever the above changed

	quit chan struct{}
	once sync.Once
	done sync.WaitGroup
}

// collect begins to store output. received is what is stored of each stream
// already, secrets what is masked. The collector's close must be called.
func (w *worker) collect(ctx context.Context, received map[environment.Stream]int64, secrets [][]byte) *collector {
	id, owner := w.run.ID, w.opts.Owner
	c := &collector{
		write: func(ctx context.Context, chunks []environment.LogChunk) error {
			return w.store.AppendOutput(ctx, id, owner, chunks)
		},
		limit:   w.opts.Grace + storeLimit,
		streams: map[environment.Stream]*filter{}, changed: make(chan struct{}), quit: make(chan struct{}),
	}
	for _, stream := range []environment.Stream{environment.Stdout, environment.Stderr} {
		c.streams[stream] = &filter{next: received[stream], mask: masker{secrets: secrets}}
	}
	c.done.Go(func() { c.loop(ctx) })
	return c
}

// take accepts a piece of a stream. It waits while too much waits already, and
// returns why output is not stored any more.
func (c *collector) take(ctx context.Context, stream environment.Stream, offset int64, data []byte) error {
	if err := c.await(ctx, func() bool { return c.queued < maxQueued }); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.streams[stream]
	if !ok {
		return environment.NewError(environment.KindInternal, "internal", "The driver named an unknown stream.")
	}
	for _, p := range f.take(offset, data) {
		c.enqueue(stream, p)
	}
	return nil
}

// settle flushes what is held back and returns when everything is stored.
func (c *collector) settle(ctx context.Context) error {
	c.mu.Lock()
	for _, stream := range []environment.Stream{environment.Stdout, environment.Stderr} {
		c.enqueue(stream, c.streams[stream].flush())
	}
	c.hurry()
	c.mu.Unlock()
	return c.await(ctx, func() bool { return c.queued == 0 })
}

// drain gives what is queued a last chance to be stored. What is held back is
// not: its rest has not come, and it may be the beginning of a secret.
func (c *collector) drain(ctx context.Context) {
	c.mu.Lock()
	c.hurry()
	c.mu.Unlock()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainLimit)
	defer cancel()
	_ = c.await(last, func() bool { return c.queued == 0 }) // the rest is delivered again
}

// close ends the collector; what is not stored by then is not.
func (c *collector) close() {
	c.once.Do(func() { close(c.quit) })
	c.done.Wait()
	c.fail(errOutputClosed)
}

// await returns when ready, which is asked under the lock, or with the reason
// why it will not come to that.
func (c *collector) await(ctx context.Context, ready func() bool) error {
	for {
		c.mu.Lock()
		err, ok, changed := c.err, ready(), c.changed
		c.mu.Unlock()
		switch {
		case err != nil:
			return err
		case ok:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// The helpers below are called with the lock held.

func (c *collector) enqueue(stream environment.Stream, p piece) {
	for len(p.data) > 0 {
		head, rest := cutRunes(p.data, goodBatch)
		c.queue = appendChunk(c.queue, environment.LogChunk{Stream: stream, StreamOffset: p.offset, Data: head})
		c.queued += len(head)
		p = piece{offset: p.offset + int64(len(head)), data: rest}
	}
	c.broadcast()
}

func (c *collector) hurry() {
	c.urgent = true
	c.broadcast()
}

func (c *collector) broadcast() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// appendChunk puts a chunk at the end, joined to the last one when it goes on
// where that ended.
func appendChunk(queue []environment.LogChunk, next environment.LogChunk) []environment.LogChunk {
	if n := len(queue); n > 0 {
		last := &queue[n-1]
		if last.Stream == next.Stream && last.StreamOffset+int64(len(last.Data)) == next.StreamOffset && len(last.Data)+len(next.Data) <= goodBatch {
			last.Data = append(last.Data, next.Data...)
			return queue
		}
	}
	return append(queue, next)
}

func (c *collector) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	c.broadcast()
}

// loop writes what is queued until quit.
func (c *collector) loop(ctx context.Context) {
	var last time.Time
	for {
		batch, size := c.grab(last)
		if batch == nil {
			return
		}
		last = time.Now()
		limited, cancel := context.WithTimeout(ctx, c.limit)
		err := crew.Retry(limited, crew.Transient, func(ctx context.Context) error { return c.write(ctx, batch) })
		cancel()
		switch code := environment.CodeOf(err); {
		case code == "run_taken_over", code == "run_not_found":
			c.fail(errTakenOver)
			return
		case err != nil && ctx.Err() != nil:
			c.fail(context.Cause(ctx))
			return
		case err != nil:
			c.fail(environment.Unavailable("output_not_stored", "The output could not be stored: the database was away too long.").Because(err))
			return
		}
		c.mu.Lock()
		c.queued -= size
		c.broadcast()
		c.mu.Unlock()
	}
}

// grab waits until there is something that is worth a write and takes all of
// it; nil when the collector was closed.
func (c *collector) grab(last time.Time) ([]environment.LogChunk, int) {
	for {
		c.mu.Lock()
		batch, size, changed := c.queue, 0, c.changed
		for _, chunk := range batch {
			size += len(chunk.Data)
		}
		pause := writePause - time.Since(last)
		if size > 0 && (c.urgent || size >= goodBatch || pause <= 0) {
			c.queue = nil
			c.mu.Unlock()
			return batch, size
		}
		c.mu.Unlock()
		if size == 0 {
			pause = time.Hour
		}
		timer := time.NewTimer(pause)
		select {
		case <-changed:
		case <-timer.C:
		case <-c.quit:
			timer.Stop()
			return nil, 0
		}
		timer.Stop()
	}
}
