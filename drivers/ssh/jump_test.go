package ssh_test

import (
	"fmt"
	"strings"
	"testing"

	"berth/drivers/ssh/sshdtest"
	"berth/environment"
)

// through are the settings of a target behind jump hosts, whose client key all
// of them know.
func through(target *sshdtest.Server, known string, hops ...*sshdtest.Server) map[string]any {
	var jump []string
	for _, hop := range hops {
		hop.Authorize(target.PublicKey)
		jump = append(jump, fmt.Sprintf("%s:%d", hop.Host, hop.Port))
	}
	return settings(target, map[string]any{"proxyJump": strings.Join(jump, ","), "knownHosts": known})
}

func TestJumpHosts(t *testing.T) {
	t.Parallel()
	one := sshdtest.Start(t, sshdtest.Config{KeyTypes: []string{"ed25519"}})
	two := sshdtest.Start(t, sshdtest.Config{KeyTypes: []string{"ecdsa"}})
	target := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	all := one.KnownHosts() + two.KnownHosts() + target.KnownHosts()
	config := through(target, all, one, two)

	t.Run("two hops", func(t *testing.T) {
		r := probe(t, d, specOf(t, d, config))
		mustPass(t, r)
		if hops, _ := stageOf(r, "login").Measured["jumpHosts"].([]any); len(hops) != 2 {
			t.Errorf("login measured %v", stageOf(r, "login").Measured)
		}
		sshdtest.Wait(t, "no connection is left", func() bool { return one.Connections()+two.Connections()+target.Connections() == 0 })
	})
	t.Run("run", func(t *testing.T) {
		ref, err := d.Acquire(t.Context(), specOf(t, d, config))
		if err != nil {
			t.Fatal(err)
		}
		var o output
		if r, err := d.Exec(t.Context(), ref, command(&o, "echo", "far")); err != nil || o.stdout.String() != "far\n" {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("unknown hop", func(t *testing.T) {
		config["knownHosts"] = one.KnownHosts() + target.KnownHosts()
		target.ClearLog()
		r := probe(t, d, specOf(t, d, config))
		stage := mustFail(t, r, "host_key", environment.CodeHostKeyUnknown)
		contains(t, stage.Message, "jump host "+two.Addr(), two.Fingerprint("ecdsa"))
		if strings.Contains(target.Log(), "Connection from") {
			t.Errorf("the target was reached: %s", target.Log())
		}
		keys, err := d.ScanHostKeys(t.Context(), specOf(t, d, config))
		if err != nil || len(keys) != 1 || keys[0].KnownHostsLine != strings.TrimSpace(two.KnownHosts()) {
			t.Errorf("scan %v, %v; want the hop's keys", keys, err)
		}
		config["knownHosts"] = all
		if keys, err = d.ScanHostKeys(t.Context(), specOf(t, d, config)); err != nil || len(keys) != 3 || keys[0].KnownHostsLine != strings.TrimSpace(target.KnownHosts("ed25519")) {
			t.Errorf("scan %v, %v; want the target's keys", keys, err)
		}
	})
	t.Run("login refused by a hop", func(t *testing.T) {
		two.Authorize(two.PublicKey)
		stage := mustFail(t, probe(t, d, specOf(t, d, config)), "login", environment.CodeLoginRefused)
		contains(t, stage.Message, "ump host "+two.Addr())
		two.Authorize(target.PublicKey)
	})
	t.Run("first use pins every host", func(t *testing.T) {
		first := through(target, "", one, two)
		first["strictHostKeyChecking"] = false
		r := probe(t, d, specOf(t, d, first))
		mustPass(t, r)
		if r.Pin != one.KnownHosts()+two.KnownHosts()+target.KnownHosts("ed25519") {
			t.Errorf("pin %q", r.Pin)
		}
	})
	for name, c := range map[string]struct {
		host        string
		port        int
		stage, code string
	}{
		"target does not listen":     {"127.0.0.1", 1, "connect", environment.CodeConnectRefused},
		"target's name is not known": {"no-such-host.invalid", 22, "resolve", environment.CodeDNSNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			far := through(target, all, one)
			far["host"], far["port"] = c.host, c.port
			r := probe(t, d, specOf(t, d, far))
			if c.stage == "resolve" && r.Code == environment.CodeDNSTemporary {
				return // the machine has no name server: then nobody knows whether the name exists
			}
			contains(t, mustFail(t, r, c.stage, c.code).Message, c.host)
		})
	}
	t.Run("forwarding forbidden", func(t *testing.T) {
		shut := sshdtest.Start(t, sshdtest.Config{Lines: []string{"AllowTcpForwarding no"}, KeyTypes: []string{"ed25519"}})
		r := probe(t, d, specOf(t, d, through(target, all+shut.KnownHosts(), shut)))
		contains(t, mustFail(t, r, "connect", environment.CodeNoRoute).Message, "does not forward")
	})
	t.Run("hop is gone", func(t *testing.T) {
		one.Kill()
		stage := mustFail(t, probe(t, d, specOf(t, d, config)), "connect", environment.CodeConnectRefused)
		contains(t, stage.Message, "jump host", fmt.Sprint(one.Port))
	})
}
