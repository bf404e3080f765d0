package ssh_test

import (
	"os"
	"path/filepath"
	"testing"

	"berth/drivers/ssh/sshdtest"
)

// TestAcquire_KnownConnection: a lease over a connection that was just in use
// asks the target nothing; work whose workspace has gone meanwhile gets it again.
func TestAcquire_KnownConnection(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{KeyTypes: []string{"ed25519"}})
	d := newDriver(t)
	work := filepath.Join(t.TempDir(), "work")
	spec := specOf(t, d, settings(s, map[string]any{"remoteWorkspacePath": work}))
	first, err := d.Acquire(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(work); err != nil {
		t.Fatal(err)
	}
	second, err := d.Acquire(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if second.Dir != first.Dir || second.Host != first.Host || second.Host.BootID == "" {
		t.Errorf("the second lease has %+v in %s, the first %+v in %s", second.Host, second.Dir, first.Host, first.Dir)
	}
	if _, err := os.Stat(work); err == nil {
		t.Error("the second Acquire asked the target again")
	}
	var o output
	result, err := d.Exec(t.Context(), second, command(&o, "pwd"))
	if err != nil || result.ExitCode != 0 || o.stdout.String() != second.Dir+"\n" {
		t.Errorf("in a workspace that had gone: %+v, %v, %q", result, err, o.stdout.String())
	}
	missing := command(&o, "pwd")
	missing.Dir = "not-there"
	if _, err := d.Exec(t.Context(), second, missing); err == nil {
		t.Error("a working folder that does not exist was made")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	sshdtest.Wait(t, "no session is left, early ones neither", func() bool { return s.Connections() == 0 })
}
