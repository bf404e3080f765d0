package handlers

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

func TestListCacheMakesOnce(t *testing.T) {
	c := newListCache()
	var made atomic.Int32
	started, finish := make(chan struct{}, 20), make(chan struct{})
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			started <- struct{}{}
			list, err := c.get(t.Context(), "k", 1, func() (*cachedList, error) {
				made.Add(1)
				<-finish
				return &cachedList{body: []byte("one")}, nil
			})
			if err != nil || string(list.body) != "one" {
				t.Errorf("got %q, %v", list.body, err)
			}
		})
	}
	for range 20 {
		<-started
	}
	close(finish)
	group.Wait()
	if made.Load() != 1 {
		t.Errorf("the list was made %d times", made.Load())
	}
}

func TestListCacheFollowsRevisions(t *testing.T) {
	c := newListCache()
	get := func(revision int64, fresh string) string {
		list, err := c.get(t.Context(), "k", revision, func() (*cachedList, error) { return &cachedList{body: []byte(fresh)}, nil })
		if err != nil {
			t.Fatal(err)
		}
		return string(list.body)
	}
	for _, step := range []struct {
		revision    int64
		fresh, want string
	}{
		{1, "a", "a"}, {1, "b", "a"}, {2, "c", "c"}, {1, "d", "d"}, {2, "e", "c"},
	} {
		if got := get(step.revision, step.fresh); got != step.want {
			t.Errorf("at revision %d: %q, want %q", step.revision, got, step.want)
		}
	}
}

func TestListCacheKeepsNoFailure(t *testing.T) {
	c := newListCache()
	broken := errors.New("broken")
	if _, err := c.get(t.Context(), "k", 1, func() (*cachedList, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Fatalf("error %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = c.get(t.Context(), "k", 1, func() (*cachedList, error) { panic("broken") })
	}()
	list, err := c.get(t.Context(), "k", 1, func() (*cachedList, error) { return &cachedList{body: []byte("x")}, nil })
	if err != nil || string(list.body) != "x" {
		t.Errorf("after failures: %q, %v", list.body, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.get(ctx, "k", 1, nil); err != nil {
		t.Errorf("what is there needs no time: %v", err)
	}
}

func TestListCacheIsBounded(t *testing.T) {
	c := newListCache()
	body := make([]byte, maxCached/4)
	for i := range 200 {
		if _, err := c.get(t.Context(), strconv.Itoa(i), 1, func() (*cachedList, error) { return &cachedList{body: body}, nil }); err != nil {
			t.Fatal(err)
		}
		if c.size > maxCached || len(c.bodies) > maxCachedLists {
			t.Fatalf("%d bytes in %d lists", c.size, len(c.bodies))
		}
	}
}
