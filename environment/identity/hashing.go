package identity

import (
	"context"
	"time"

	"berth/environment"
)

const (
	// maxHashes is how many passwords are hashed at once. Each takes much memory
	// on purpose, and whoever sends many must not take all of it.
	maxHashes = 4
	// hashPatience is how long a request waits for its turn.
	hashPatience = 3 * time.Second
)

// turn waits until a password may be hashed; whoever got a turn calls done.
// KindUnavailable with code busy when none came in time.
func (s *Service) turn(ctx context.Context) (done func(), err error) {
	late := time.NewTimer(hashPatience)
	defer late.Stop()
	select {
	case s.slots <- struct{}{}:
		return func() { <-s.slots }, nil
	case <-late.C:
		return nil, environment.Unavailable("busy", "Too many passwords are being checked at this moment. Try again.")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// hash turns a new password into what is stored.
func (s *Service) hash(ctx context.Context, password environment.Secret) (string, error) {
	done, err := s.turn(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	return s.hasher.Hash(password)
}

// proof is a password on its way to be compared.
type proof struct {
	keys     []string // what failures are counted under
	hash     string   // "" where there is none
	may      bool     // false: it fails even when it is right
	password environment.Secret
}

// matches compares a password with a hash, unless the keys must wait, and counts
// a failure. Where there is no hash it takes as long. The wait is asked for and
// the failure counted within the turn, so that of many guesses at once those
// behind the first few have to wait.
func (s *Service) matches(ctx context.Context, p proof) (ok, stale bool, err error) {
	done, err := s.turn(ctx)
	if err != nil {
		return false, false, err
	}
	defer done()
	if err := s.mayTry(ctx, p.keys); err != nil {
		return false, false, err
	}
	if p.hash == "" {
		_, err = s.hasher.Hash(p.password)
	} else {
		ok, stale = s.hasher.Matches(p.hash, p.password)
	}
	if err != nil || ok && p.may {
		return ok, stale, err
	}
	_, err = s.store.SignInFailed(context.WithoutCancel(ctx), p.keys) // who hangs up has failed all the same
	return false, false, err
}
