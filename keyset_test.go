package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/secrets"
	"berth/store"
	"berth/store/storetest"
	"berth/store/vault"

	"github.com/google/uuid"
)

var _ secrets.Keyset = (*vault.Vault)(nil)

// keyring is a real database with a real keyset, and secrets in it.
type keyring struct {
	t       *testing.T
	db      *store.DB
	path    string
	company uuid.UUID
	mu      sync.Mutex
	made    map[uuid.UUID]string // the value of each secret
}

func newKeyring(t *testing.T) *keyring {
	t.Helper()
	k := &keyring{t: t, db: storetest.New(t), path: filepath.Join(t.TempDir(), "keyset.json"), made: map[uuid.UUID]string{}}
	company := environment.Company{ID: environment.NewID(), Name: "Acme"}
	if err := k.db.CreateCompany(t.Context(), company, environment.Activity{}); err != nil {
		t.Fatal(err)
	}
	k.company = company.ID
	return k
}

// start is a server's part that keeps secrets; another than the earlier ones.
func (k *keyring) start(store secrets.Store) *secrets.Service {
	k.t.Helper()
	v, err := vault.Open(k.path)
	if err != nil {
		k.t.Fatal(err)
	}
	keys := v.Fingerprints()
	if err := k.db.BindKeyset(k.t.Context(), keys[0], keys[1:]...); err != nil {
		k.t.Fatalf("start on the keyset: %v", err)
	}
	return secrets.NewService(store, v, time.Now, slog.New(slog.DiscardHandler))
}

func (k *keyring) add(s *secrets.Service) {
	value := "canary-" + environment.NewID().String()
	made, err := s.Create(k.t.Context(), environment.LocalOperator(), k.company, secrets.New{Name: value, Value: environment.NewSecret(value)})
	if err != nil {
		k.t.Errorf("make a secret: %v", err)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.made[made.ID] = value
}

// check opens everything with a vault that reads the file anew.
func (k *keyring) check(when string) {
	k.t.Helper()
	v, err := vault.Open(k.path)
	if err != nil {
		k.t.Fatal(err)
	}
	for id, want := range k.made {
		_, version, err := k.db.Secret(k.t.Context(), id, "latest")
		if err != nil {
			k.t.Fatal(err)
		}
		if got, err := v.Open(version.ID, version.Ciphertext); err != nil || got.Reveal() != want {
			k.t.Errorf("%s: secret %s does not open: %v", when, id, err)
		}
	}
}

var errCut = errors.New("cut off")

// cutStore ends a rotation after a number of its transactions.
type cutStore struct {
	*store.DB
	left int
}

func (s *cutStore) Reseal(ctx context.Context, after string, limit int, again func(uuid.UUID, []byte) ([]byte, error)) (string, int, error) {
	if s.left--; s.left < 0 {
		return "", 0, errCut
	}
	return s.DB.Reseal(ctx, after, 2, again)
}

func (s *cutStore) MoveKeyset(ctx context.Context, from, to string, refused [][]byte, a environment.Activity) error {
	if s.left--; s.left < 0 {
		return errCut
	}
	return s.DB.MoveKeyset(ctx, from, to, refused, a)
}

func TestRotationThatIsCutOffGoesOnAtTheNextStart(t *testing.T) {
	k := newKeyring(t)
	for range 5 {
		k.add(k.start(k.db))
	}
	for left := range 12 {
		if _, err := k.start(&cutStore{k.db, left}).RotateKey(t.Context(), environment.LocalOperator()); err != nil && !errors.Is(err, errCut) {
			t.Fatalf("rotation that ends after %d steps: %v", left, err)
		}
		k.check(fmt.Sprintf("after an end at step %d", left))
		k.add(k.start(k.db)) // with two keys, or with one
	}
	if _, err := k.start(k.db).RotateKey(t.Context(), environment.LocalOperator()); err != nil {
		t.Fatal(err)
	}
	k.check("at the end")
	v, err := vault.Open(k.path)
	if err != nil || len(v.Fingerprints()) != 1 {
		t.Errorf("keys at the end: %v, %v, want one", v.Fingerprints(), err)
	}
}

// TestRotationsAndWritersOfTwoServers: two servers on one file and one database
// write while the key is turned over again and again.
func TestRotationsAndWritersOfTwoServers(t *testing.T) {
	k := newKeyring(t)
	feed := storetest.Listen(t, k.db)
	servers := []*secrets.Service{k.start(k.db), k.start(k.db)}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, s := range servers {
		all.Go(func() {
			if err := s.Run(ctx, feed); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			for range 40 {
				k.add(s)
			}
		})
	}
	for i := range 6 {
		if _, err := servers[i%2].RotateKey(t.Context(), environment.LocalOperator()); err != nil {
			t.Errorf("rotation %d: %v", i, err)
		}
		k.add(servers[(i+1)%2])
	}
	cancel()
	all.Wait()
	k.check("after six rotations")
}

func TestAnotherKeysetIsRefusedAtStart(t *testing.T) {
	k := newKeyring(t)
	k.add(k.start(k.db))
	if _, err := k.start(k.db).RotateKey(t.Context(), environment.LocalOperator()); err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(filepath.Join(t.TempDir(), "another.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := k.db.BindKeyset(t.Context(), v.Fingerprint()); environment.CodeOf(err) != "keyset_mismatch" {
		t.Errorf("start with another keyset: got %v, want keyset_mismatch", err)
	}
}
