package crew_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"
	"berth/environment/crew"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestCrew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c crew.Crew
		if c.Go(func(context.Context) { t.Error("began in a closed crew") }) || c.IsOpen() {
			t.Error("the zero crew takes work")
		}
		ctx, stop := context.WithCancel(t.Context())
		c.Open(ctx)
		var ended atomic.Int32
		for range 3 {
			if !c.Go(func(ctx context.Context) {
				<-ctx.Done()
				time.Sleep(time.Second)
				ended.Add(1)
			}) {
				t.Error("an open crew refuses work")
			}
			synctest.Wait()
		}
		stop()
		time.Sleep(time.Millisecond)
		c.Close()
		if ended.Load() != 3 || c.IsOpen() || c.Go(func(context.Context) {}) {
			t.Errorf("%d ended before Close returned, want all three and no more work", ended.Load())
		}
	})
}

func TestCall(t *testing.T) {
	reason := errors.New("enough")
	boom := errors.New("boom")
	tests := map[string]struct {
		fn    func(context.Context) (int, error)
		value int
		is    error
		code  string
		took  time.Duration
	}{
		"returns":                {fn: func(context.Context) (int, error) { return 7, nil }, value: 7},
		"fails":                  {fn: func(context.Context) (int, error) { return 0, boom }, is: boom},
		"panics":                 {fn: func(context.Context) (int, error) { panic("boom") }, code: "internal"},
		"returns after its time": {fn: func(ctx context.Context) (int, error) { <-ctx.Done(); return 7, nil }, value: 7, took: time.Minute},
		"never returns": {fn: func(context.Context) (int, error) { time.Sleep(time.Hour); return 7, nil },
			is: reason, took: time.Minute + time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, reason)
				defer cancel()
				value, err := crew.Call(ctx, time.Second, func() (int, error) { return test.fn(ctx) })
				if value != test.value || test.is != nil && !errors.Is(err, test.is) || test.code != "" && environment.CodeOf(err) != test.code {
					t.Errorf("got %d, %v; want %d, %v %s", value, err, test.value, test.is, test.code)
				}
				if took := time.Since(began); took != test.took {
					t.Errorf("took %s, want %s", took, test.took)
				}
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

func TestRetry(t *testing.T) {
	away := environment.Unavailable("database_unavailable", "gone")
	tests := map[string]struct {
		fails int   // how often it fails before it goes through
		with  error // with what
		limit time.Duration
		tries int
		is    error
	}{
		"goes through":       {fails: 0, limit: time.Hour, tries: 1},
		"goes through later": {fails: 5, with: away, limit: time.Hour, tries: 6},
		"is refused":         {fails: 5, with: environment.Conflict("no", "no"), limit: time.Hour, tries: 1, is: environment.Conflict("no", "no")},
		"until ctx ends":     {fails: 1000, with: away, limit: time.Second, tries: 5, is: away},
		"ctx ended before":   {fails: 1000, with: away, limit: 0, tries: 1, is: away},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), test.limit)
				defer cancel()
				tries := 0
				err := crew.Retry(ctx, crew.Transient, func(ctx context.Context) error {
					if ctx.Err() != nil {
						t.Error("tried with a dead context")
					}
					if tries++; tries <= test.fails {
						return test.with
					}
					return nil
				})
				if tries != test.tries || environment.CodeOf(err) != environment.CodeOf(test.is) {
					t.Errorf("%d tries, %v; want %d, %v", tries, err, test.tries, test.is)
				}
			})
		})
	}
}

// A write under way when the server stops gets a little more time, not for ever.
func TestRetry_lastAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, stop)
		began := time.Now()
		err := crew.Retry(ctx, crew.Transient, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		if took := time.Since(began); err == nil || took != 2500*time.Millisecond {
			t.Errorf("got %v after %s, want an error 1.5 s after the stop", err, took)
		}
		time.Sleep(time.Minute)
	})
}
