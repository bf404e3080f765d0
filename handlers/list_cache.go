package handlers

import (
	"context"
	"sync"
	"time"
)

// maxCached is how many bytes of lists are kept, maxCachedLists how many lists.
const (
	maxCached      = 8 << 20
	maxCachedLists = 64
)

// listCache keeps the bodies of lists of environments as long as the catalogue
// has the revision at which they were made.
type listCache struct {
	mu       sync.Mutex
	revision int64
	size     int
	now      func() time.Time
	bodies   map[string]*cachedList
	building map[string]*building
}

// cachedList is a list as it goes out.
type cachedList struct {
	body   []byte
	link   string    // Link header
	until  time.Time // zero: as long as the revision stays
	packed packedForms
}

// building is a list that somebody makes while others wait for it.
type building struct {
	done chan struct{}
	list *cachedList
	err  error
}

func newListCache() *listCache {
	return &listCache{now: time.Now, bodies: map[string]*cachedList{}, building: map[string]*building{}}
}

// get returns the list of a key at a revision, and makes it when it is not
// there: once, however many ask. The revision must have been read before fresh
// reads, so that a list is never older than its revision says.
func (c *listCache) get(ctx context.Context, key string, revision int64, fresh func() (*cachedList, error)) (*cachedList, error) {
	for {
		c.mu.Lock()
		if revision > c.revision {
			c.revision, c.size = revision, 0
			clear(c.bodies)
			c.building = map[string]*building{}
		}
		if revision < c.revision {
			c.mu.Unlock()
			return fresh() // somebody has read a later revision: do not keep this
		}
		if list, ok := c.bodies[key]; ok && (list.until.IsZero() || c.now().Before(list.until)) {
			c.mu.Unlock()
			return list, nil
		}
		b := c.building[key]
		if b == nil {
			b = &building{done: make(chan struct{})}
			c.building[key] = b
			c.mu.Unlock()
			c.build(key, revision, b, fresh)
			return b.list, b.err
		}
		c.mu.Unlock()
		select {
		case <-b.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if b.err == nil {
			return b.list, nil
		} // else try: its maker may only have gone away
	}
}

func (c *listCache) build(key string, revision int64, b *building, fresh func() (*cachedList, error)) {
	b.err = context.Canceled // what the others see if fresh panics
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.building[key] == b {
			delete(c.building, key)
		}
		if b.err == nil && revision == c.revision {
			if len(c.bodies) >= maxCachedLists || c.size+len(b.list.body) > maxCached {
				clear(c.bodies)
				c.size = 0
			}
			if old, ok := c.bodies[key]; ok {
				c.size -= len(old.body)
			}
			c.bodies[key] = b.list
			c.size += len(b.list.body)
		}
		close(b.done)
	}()
	b.list, b.err = fresh()
}
