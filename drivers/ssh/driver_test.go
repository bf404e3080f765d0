package ssh_test

import (
	"strings"
	"testing"

	"berth/drivers/drivertest"
	"berth/drivers/ssh/sshdtest"
	"berth/drivers/ssh/sshtarget"
	"berth/environment"
)

// TestDriver keeps the rules of all drivers, on a real sshd and on the target
// of the demo.
func TestDriver(t *testing.T) {
	want := environment.Capabilities{
		Driver: "ssh", DisplayName: "SSH", Configure: true, Probe: true, Exec: true, Files: true, ScanHostKey: true, Keys: true,
	}
	t.Run("sshd", func(t *testing.T) {
		drivertest.Run(t, func(t *testing.T) (environment.Driver, environment.Spec) {
			s := sshdtest.Start(t, sshdtest.Config{KeyTypes: []string{"ed25519"}})
			d := newDriver(t)
			return d, specOf(t, d, settings(s, nil))
		}, want)
	})
	t.Run("sshtarget", func(t *testing.T) {
		drivertest.Run(t, func(t *testing.T) (environment.Driver, environment.Spec) {
			target, err := sshtarget.Start(t.Context(), sshtarget.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := target.Close(); err != nil {
					t.Error(err)
				}
			})
			d := newDriver(t)
			return d, specOf(t, d, map[string]any{
				"host": target.Host, "port": target.Port, "username": target.User, "remoteWorkspacePath": "~/work",
				"privateKey": target.PrivateKey, "knownHosts": strings.Join(target.HostKeys, "\n"),
			})
		}, want)
	})
}
