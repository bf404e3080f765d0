package identity_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"
)

// TestFourHashesAtOnce: hashing takes much memory, so a fifth waits for its turn,
// and one that does not get it in time is told to try again.
func TestFourHashesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDeskWithAdmin(t)
		d.hasher.began, d.hasher.goOn = make(chan struct{}, 100), make(chan struct{})
		signIn := func() error {
			_, _, err := d.SignIn(t.Context(), adminEmail, secret(adminPassword), here)
			return err
		}
		var group sync.WaitGroup
		errs := make(chan error, 5)
		for range 4 {
			group.Go(func() { errs <- signIn() })
		}
		synctest.Wait()
		if n := len(d.hasher.began); n != 4 {
			t.Fatalf("%d are hashed, want 4", n)
		}
		began := time.Now()
		err := signIn()
		d.refused("the fifth", err, environment.KindUnavailable, "busy")
		if waited := time.Since(began); waited != 3*time.Second {
			t.Errorf("the fifth waited for %s, want 3 s", waited)
		}
		if n := len(d.hasher.began); n != 4 {
			t.Errorf("%d were hashed, want 4", n)
		}
		group.Go(func() { errs <- signIn() })
		synctest.Wait()
		close(d.hasher.goOn)
		group.Wait()
		close(errs)
		for err := range errs {
			d.must(err)
		}
	})
}

// TestManyGuessesAtOnce: of a hundred guesses that are sent together, those that
// wait for their turn count the failures of those before.
func TestManyGuessesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDeskWithAdmin(t)
		d.hasher.began, d.hasher.goOn = make(chan struct{}, 1000), make(chan struct{})
		before := d.hasher.work()
		var group sync.WaitGroup
		for range 100 {
			group.Go(func() {
				_, _, err := d.SignIn(t.Context(), adminEmail, secret("wrong"), here)
				if code := environment.CodeOf(err); code != "sign_in_failed" && code != environment.CodeRateLimited {
					t.Errorf("a guess: %v", err)
				}
			})
		}
		synctest.Wait()
		close(d.hasher.goOn)
		group.Wait()
		// Five are free, the sixth makes the rest wait; three more may be under way.
		if tried := d.hasher.work() - before; tried < 6 || tried > 9 {
			t.Errorf("%d of the guesses were tried, want 6 to 9", tried)
		}
	})
}
