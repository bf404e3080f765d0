package running_test

import (
	"context"
	"slices"
	"sync"
	"time"

	"berth/environment"
	"berth/environment/environmenttest"

	"github.com/google/uuid"
)

// serverStore is the database as one server sees it. It can be taken away for a
// while, and the server can be killed at its n-th write, before or after the
// write takes effect.
type serverStore struct {
	*environmenttest.Store
	onCrash func()

	mu      sync.Mutex
	crashed bool
	away    bool
	writes  int
	crashAt int  // 0: never
	after   bool // the write that kills takes effect
	lostAt  int  // the write that takes effect and whose answer is lost; 0: none
	before  func(write int)
	appends []int

	revocation string
}

var errGone = environment.Unavailable("database_unavailable", "The database does not answer.")

func (s *serverStore) crash() {
	s.mu.Lock()
	s.crashed = true
	s.mu.Unlock()
	s.onCrash()
}

func (s *serverStore) dead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.crashed
}

// sizes are those of the writes of output.
func (s *serverStore) sizes() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.appends)
}

func (s *serverStore) setAway(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

func (s *serverStore) read() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.crashed || s.away {
		return errGone
	}
	return nil
}

// write does a write, or what becomes of it.
func (s *serverStore) write(do func() error) error {
	if err := s.read(); err != nil {
		return err
	}
	s.mu.Lock()
	s.writes++
	n, dies, after, before := s.writes, s.writes == s.crashAt, s.after, s.before
	lost := n == s.lostAt
	s.mu.Unlock()
	if before != nil {
		before(n)
	}
	if !dies {
		if err := do(); err != nil || !lost {
			return err
		}
		return errGone
	}
	if after {
		_ = do() // nobody is left to hear of it
	}
	s.crash()
	return errGone
}

func (s *serverStore) Environment(ctx context.Context, id uuid.UUID) (environment.EnvironmentView, error) {
	if err := s.read(); err != nil {
		return environment.EnvironmentView{}, err
	}
	return s.Store.Environment(ctx, id)
}

func (s *serverStore) Run(ctx context.Context, id uuid.UUID) (environment.Run, error) {
	if err := s.read(); err != nil {
		return environment.Run{}, err
	}
	return s.Store.Run(ctx, id)
}

func (s *serverStore) Lease(ctx context.Context, id uuid.UUID) (environment.Lease, error) {
	if err := s.read(); err != nil {
		return environment.Lease{}, err
	}
	return s.Store.Lease(ctx, id)
}

func (s *serverStore) Received(ctx context.Context, id uuid.UUID) (map[environment.Stream]int64, error) {
	if err := s.read(); err != nil {
		return nil, err
	}
	return s.Store.Received(ctx, id)
}

func (s *serverStore) OrphanedRuns(ctx context.Context, owner uuid.UUID, limit int) ([]environment.Run, error) {
	if err := s.read(); err != nil {
		return nil, err
	}
	return s.Store.OrphanedRuns(ctx, owner, limit)
}

func (s *serverStore) OrphanedLeases(ctx context.Context, owner uuid.UUID, limit int) ([]environment.Lease, error) {
	if err := s.read(); err != nil {
		return nil, err
	}
	return s.Store.OrphanedLeases(ctx, owner, limit)
}

func (s *serverStore) CreateRun(ctx context.Context, r environment.Run, a environment.Activity) error {
	return s.write(func() error { return s.Store.CreateRun(ctx, r, a) })
}

func (s *serverStore) UpdateRun(ctx context.Context, id, owner uuid.UUID, change func(*environment.Run) error, a ...*environment.Activity) (run environment.Run, err error) {
	err = s.write(func() (err error) {
		run, err = s.Store.UpdateRun(ctx, id, owner, change, a...)
		return err
	})
	return run, err
}

func (s *serverStore) AppendOutput(ctx context.Context, id, owner uuid.UUID, chunks []environment.LogChunk) error {
	size := 0
	for _, c := range chunks {
		size += len(c.Data)
	}
	return s.write(func() error {
		s.mu.Lock()
		s.appends = append(s.appends, size)
		s.mu.Unlock()
		return s.Store.AppendOutput(ctx, id, owner, chunks)
	})
}

func (s *serverStore) KeepRemains(ctx context.Context, run, lease uuid.UUID) error {
	return s.write(func() error { return s.Store.KeepRemains(ctx, run, lease) })
}

func (s *serverStore) ClaimRemains(ctx context.Context, owner uuid.UUID, limit int, hold time.Duration) ([]environment.Remains, error) {
	if err := s.read(); err != nil {
		return nil, err
	}
	return s.Store.ClaimRemains(ctx, owner, limit, hold)
}

func (s *serverStore) PostponeRemains(ctx context.Context, run, owner uuid.UUID, wait time.Duration) (over bool, err error) {
	err = s.write(func() (err error) {
		over, err = s.Store.PostponeRemains(ctx, run, owner, wait)
		return err
	})
	return over, err
}

func (s *serverStore) DropRemains(ctx context.Context, run, owner uuid.UUID) error {
	return s.write(func() error { return s.Store.DropRemains(ctx, run, owner) })
}

func (s *serverStore) CreateLease(ctx context.Context, l environment.Lease) error {
	return s.write(func() error { return s.Store.CreateLease(ctx, l) })
}

func (s *serverStore) UpdateLease(ctx context.Context, id uuid.UUID, change func(*environment.Lease) error, a *environment.Activity) (lease environment.Lease, err error) {
	err = s.write(func() (err error) {
		lease, err = s.Store.UpdateLease(ctx, id, change, a)
		return err
	})
	return lease, err
}
