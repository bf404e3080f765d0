package secrets_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"
	"berth/environment/environmenttest"
	"berth/environment/secrets"

	"github.com/google/uuid"
)

var errKilled = errors.New("killed")

// faults counts the steps of a rotation and ends the process, so to speak, before
// or behind one of them: what it did stays, and nothing comes after it.
type faults struct {
	left   int // steps until the end; negative: none
	behind bool
}

func (f *faults) step(do func() error) error {
	if f.left == 0 {
		if !f.behind {
			return errKilled
		}
		f.left = -2
		return errors.Join(do(), errKilled)
	}
	if f.left == -2 {
		return errKilled
	}
	f.left--
	return do()
}

type faultyStore struct {
	*environmenttest.Store
	*faults
}

func (s faultyStore) WakeKeyset(ctx context.Context) error {
	return s.step(func() error { return s.Store.WakeKeyset(ctx) })
}

func (s faultyStore) MoveKeyset(ctx context.Context, from, to string, refused [][]byte, a environment.Activity) error {
	return s.step(func() error { return s.Store.MoveKeyset(ctx, from, to, refused, a) })
}

func (s faultyStore) Reseal(ctx context.Context, after string, _ int, again func(uuid.UUID, []byte) ([]byte, error)) (next string, n int, err error) {
	err = s.step(func() (err error) {
		next, n, err = s.Store.Reseal(ctx, after, 2, again)
		return err
	})
	return next, n, err
}

type faultyKeyset struct {
	*environmenttest.Keyset
	*faults
}

func (k faultyKeyset) Rotate() error { return k.step(k.Keyset.Rotate) }
func (k faultyKeyset) Prune() error  { return k.step(k.Keyset.Prune) }

// TestRotationGoesOnAfterAnEndAnywhere ends the process before and behind each step
// of a rotation, starts another on the same file and database, and turns again.
func TestRotationGoesOnAfterAnEndAnywhere(t *testing.T) {
	ended := 0
	for _, behind := range []bool{false, true} {
		for left := 0; ; left++ {
			b := newBed(t)
			var ids []uuid.UUID
			for i := range 5 {
				ids = append(ids, b.create(fmt.Sprint("secret ", i), fmt.Sprint("canary-", i)).ID)
			}
			f := &faults{left: left, behind: behind}
			first := secrets.NewService(faultyStore{b.store, f}, faultyKeyset{b.keyset, f}, time.Now, slog.New(slog.DiscardHandler))
			_, err := first.RotateKey(t.Context(), environment.LocalOperator())
			if err == nil {
				break // no step is left
			}
			if !errors.Is(err, errKilled) {
				t.Fatalf("ended at step %d: %v", left, err)
			}
			ended++
			// A server that starts on what is there.
			b.keyset = environmenttest.OpenKeyset(b.keyset.File)
			keys := b.keyset.Fingerprints()
			if err := b.store.BindKeyset(t.Context(), keys[0], keys[1:]...); err != nil {
				t.Fatalf("start after an end at step %d, behind it %t: %v", left, behind, err)
			}
			check := func(when string) {
				t.Helper()
				for i, id := range ids {
					if got := b.value(id, "latest"); got != fmt.Sprint("canary-", i) {
						t.Errorf("%s, step %d: secret %d is %q", when, left, i, got)
					}
				}
			}
			check("after the restart")
			again := secrets.NewService(b.store, b.keyset, time.Now, slog.New(slog.DiscardHandler))
			if _, err := again.RotateKey(t.Context(), environment.LocalOperator()); err != nil {
				t.Fatalf("turn again after step %d: %v", left, err)
			}
			check("after the second turn")
			bound, err := b.store.KeysetFingerprint(t.Context())
			if keys := b.keyset.Fingerprints(); err != nil || len(keys) != 1 || keys[0] != bound || bound == "key-1" {
				t.Errorf("keys after step %d: %v, bound %s, %v", left, keys, bound, err)
			}
		}
	}
	if ended < 12 {
		t.Errorf("only %d ends were tried", ended)
	}
}

func TestRotationTellsWhatItDid(t *testing.T) {
	b := newBed(t)
	s := b.create("token", "canary-1")
	r, err := b.RotateKey(t.Context(), environment.LocalOperator())
	if err != nil || r != (secrets.Rotation{From: "key-1", To: "key-2", Resealed: 1}) {
		t.Fatalf("rotation %+v, %v", r, err)
	}
	if log := b.entries("instance"); len(log) != 1 || log[0] != `keyset.rotated {"from":"key-1","resealed":1,"to":"key-2"}` {
		t.Errorf("log %v", log)
	}
	if r, err = b.RotateKey(t.Context(), environment.LocalOperator()); err != nil || r.From != "key-2" || r.To != "key-3" || b.value(s.ID, "1") != "canary-1" {
		t.Errorf("second rotation %+v, %v", r, err)
	}
}

// TestAStaleServerLosesNothing: what another server sealed with the key of before
// is refused by the database, and sealed again there.
func TestAStaleServerLosesNothing(t *testing.T) {
	b := newBed(t)
	other := environmenttest.OpenKeyset(b.keyset.File)
	stale := secrets.NewService(b.store, other, time.Now, slog.New(slog.DiscardHandler))
	if _, err := b.RotateKey(t.Context(), environment.LocalOperator()); err != nil {
		t.Fatal(err)
	}
	s, err := stale.Create(t.Context(), admin(b.acme), b.acme, secrets.New{Name: "token", Value: environment.NewSecret("canary-1")})
	if err != nil || b.value(s.ID, "1") != "canary-1" {
		t.Errorf("what a server with the old key stored: %v", err)
	}
	// One whose file is a copy of before can do nothing and says so.
	lone := secrets.NewService(b.store, environmenttest.OpenKeyset(nil), time.Now, slog.New(slog.DiscardHandler))
	_, err = lone.Rotate(t.Context(), admin(b.acme), s.ID, environment.NewSecret("canary-2"))
	want(t, "write with a stale copy of the file", err, environment.KindConflict, environment.CodeKeysetChanged)
	_, err = lone.RotateKey(t.Context(), environment.LocalOperator())
	want(t, "turn the key over with a stale copy of the file", err, environment.KindConflict, "keyset_mismatch")
}

func TestWritersKeepWorkingDuringRotations(t *testing.T) {
	b := newBed(t)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	var mu sync.Mutex
	made := map[uuid.UUID]string{}
	for w := range 4 {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				value := fmt.Sprintf("canary-%d-%d", w, i)
				s, err := b.Create(t.Context(), admin(b.acme), b.acme, secrets.New{Name: value, Value: environment.NewSecret(value)})
				if environment.CodeOf(err) == environment.CodeTooManySecrets {
					return
				}
				if err != nil {
					t.Errorf("write during a rotation: %v", err)
					return
				}
				mu.Lock()
				made[s.ID] = value
				mu.Unlock()
			}
		})
	}
	for range 5 {
		if _, err := b.RotateKey(t.Context(), environment.LocalOperator()); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	writers.Wait()
	for id, value := range made {
		if got := b.value(id, "latest"); got != value {
			t.Errorf("got %q, want %q", got, value)
		}
	}
}

// TestRunFollowsAndSweeps: another server's loop takes the new key when it is woken.
func TestRunFollowsAndSweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		other := environmenttest.OpenKeyset(b.keyset.File)
		follower := secrets.NewService(b.store, other, time.Now, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- follower.Run(ctx, b.store) }()
		synctest.Wait()
		if _, err := b.RotateKey(t.Context(), environment.LocalOperator()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if keys := other.Fingerprints(); len(keys) != 1 || keys[0] != "key-2" {
			t.Errorf("keys of the other server: %v, want the new one", keys)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
