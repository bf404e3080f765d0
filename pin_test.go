package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"berth/drivers/ssh"
	"berth/drivers/ssh/sshdtest"
	"berth/environment"

	"github.com/google/uuid"
)

// TestFirstUseIsPinnedOnceAndKept: the ssh driver is the one that pins what a run
// trusted, and it does so even when the database was away for a moment.
func TestFirstUseIsPinnedOnceAndKept(t *testing.T) {
	host := sshdtest.Start(t, sshdtest.Config{KeyTypes: []string{"ed25519"}})
	var pinned []string
	calls := 0
	d := ssh.New(ssh.Options{Log: slog.New(slog.DiscardHandler), OnPin: pinFirstUse(func(_ context.Context, _ uuid.UUID, text string) error {
		if calls++; calls == 1 {
			return environment.NewError(environment.KindUnavailable, "database_unavailable", "The database is away.")
		}
		pinned = append(pinned, text)
		return nil
	})})
	t.Cleanup(func() { _ = d.Close() })
	config, err := json.Marshal(map[string]any{"host": host.Host, "port": host.Port, "username": host.User,
		"remoteWorkspacePath": host.Home + "/work", "strictHostKeyChecking": false})
	if err != nil {
		t.Fatal(err)
	}
	spec := environment.Spec{EnvironmentID: environment.NewID(), Driver: environment.DriverSSH, Config: config,
		Secrets: map[string]environment.Secret{"privateKey": environment.NewSecret(host.PrivateKey)}}
	if _, err := d.Acquire(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if calls != 2 || len(pinned) != 1 || pinned[0] != host.KnownHosts() {
		t.Errorf("pinned %q with %d calls, want the host's key once, at the second call", pinned, calls)
	}
}

func TestFirstUseOfAnEnvironmentThatIsGone(t *testing.T) {
	calls := 0
	err := pinFirstUse(func(context.Context, uuid.UUID, string) error {
		calls++
		return environment.NotFound("environment")
	})(t.Context(), environment.NewID(), "h ssh-ed25519 AAAA")
	if calls != 1 || environment.KindOf(err) != environment.KindNotFound || errors.Is(err, context.Canceled) {
		t.Errorf("got %v after %d calls, want one refusal", err, calls)
	}
}
