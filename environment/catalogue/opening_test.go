package catalogue_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"
	"berth/environment/catalogue"
	"berth/environment/environmenttest"
)

// slowStore takes its time to note openings.
type slowStore struct {
	*environmenttest.Store
	gate chan struct{}
}

func (s slowStore) RecordAccess(ctx context.Context, all ...environment.SecretAccess) error {
	<-s.gate
	return s.Store.RecordAccess(ctx, all...)
}

// TestNobodyWaitsForANote: secrets are handed out while the note of it is written,
// and a server that stops waits for the note.
func TestNobodyWaitsForANote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		id := b.share("canary-1")
		env := b.create(sshDraft("Build box", "passwordSecretRef", environment.RefTo(id)))
		slow := slowStore{b.store, make(chan struct{})}
		books := catalogue.New(slow, registry{b}, environmenttest.Vault{}, time.Now, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- books.Run(ctx) }()
		synctest.Wait()
		began := time.Now()
		spec, _, err := books.Spec(t.Context(), env, environment.SecretUse{Purpose: environment.ForRun})
		if err != nil || spec.Secrets["password"].Reveal() != "canary-1" || time.Since(began) > time.Millisecond {
			t.Errorf("opened after %v: %v, %v", time.Since(began), spec.SecretProblems, err)
		}
		cancel()
		synctest.Wait()
		close(slow.gate)
		if err := <-done; err != nil {
			t.Error(err)
		}
		page, err := b.store.SecretAccesses(t.Context(), id, 0, "")
		if err != nil || len(page.Items) != 1 || page.Items[0].Outcome != "opened" {
			t.Errorf("notes at the end: %+v, %v", page.Items, err)
		}
	})
}
