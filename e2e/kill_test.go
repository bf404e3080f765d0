package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// shortGrace keeps the drills short; the long ones with the real grace are in
// soak_test.go.
const shortGrace = 4 * time.Second

func decode(t *testing.T, body []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
}

// drill is a server, a host and a saved environment.
type drill struct {
	*server
	host *host
	env  string
}

func newDrill(t *testing.T, grace time.Duration) *drill {
	t.Helper()
	d := &drill{server: newServer(t, "BERTH_RUN_GRACE="+grace.String()), host: newHost(t)}
	d.furnish(t, "Drills")
	d.env = d.host.save(t, d.server, "Box")
	return d
}

// prints waits until a run's output has a text.
func (d *drill) prints(t *testing.T, run, text string) {
	t.Helper()
	until(t, 20*time.Second, "run "+run+" prints "+text, func() bool { return strings.Contains(d.output(t, run, "stdout"), text) })
}

// TestDrill_ServerKilledWhileRunning: within the grace the run goes on, no
// output is lost or doubled, and the exit code is the command's.
func TestDrill_ServerKilledWhileRunning(t *testing.T) {
	t.Parallel()
	d := newDrill(t, 30*time.Second)
	const n = 40
	run := d.begin(t, d.env, counting(n, "0.1")...)
	d.prints(t, run, "line 5\n")
	d.kill(t)
	d.start(t)
	d.prints(t, run, "line 20\n")
	d.kill(t) // a second time, by the one that took it up
	d.start(t)
	got := d.ends(t, run, 60*time.Second)
	if got.Status != "failed" || got.ExitCode == nil || *got.ExitCode != 7 || got.Termination != "proven" {
		t.Errorf("the run %s; want failed with exit code 7, termination proven", got)
	}
	d.wantCounted(t, run, n)
	leavesNothing(t, run, 5*time.Second)
}

// TestDrill_ServerStoppedInOrder: a restart is not the end of the work.
func TestDrill_ServerStoppedInOrder(t *testing.T) {
	t.Parallel()
	d := newDrill(t, 30*time.Second)
	const n = 30
	run := d.begin(t, d.env, counting(n, "0.1")...)
	d.prints(t, run, "line 5\n")
	d.stop(t)
	if d.postmaster() != 0 {
		t.Error("the private PostgreSQL outlived the server")
	}
	d.start(t)
	got := d.ends(t, run, 60*time.Second)
	if got.Status != "failed" || got.ExitCode == nil || *got.ExitCode != 7 {
		t.Errorf("the run %s; want failed with exit code 7", got)
	}
	d.wantCounted(t, run, n)
}

// TestDrill_CommandEndsWhileNoServerLives: its exit code and its output are
// there for the next one.
func TestDrill_CommandEndsWhileNoServerLives(t *testing.T) {
	t.Parallel()
	d := newDrill(t, 30*time.Second)
	const n = 10
	command := counting(n, "0.1")
	command[2] = strings.Replace(command[2], "exit 7", "touch ended; exit 7", 1)
	run := d.begin(t, d.env, command...)
	d.prints(t, run, "line 2\n")
	d.kill(t)
	until(t, 20*time.Second, "the command ends", func() bool {
		_, err := os.Stat(filepath.Join(d.host.workspace, "ended"))
		return err == nil
	})
	d.start(t)
	got := d.ends(t, run, 30*time.Second)
	if got.Status != "failed" || got.ExitCode == nil || *got.ExitCode != 7 {
		t.Errorf("the run %s; want failed with exit code 7", got)
	}
	d.wantCounted(t, run, n)
	leavesNothing(t, run, 5*time.Second)
}

// TestDrill_ServerGoneForLongerThanTheGrace: the target ends the work by
// itself, and the next server says that the run is lost.
func TestDrill_ServerGoneForLongerThanTheGrace(t *testing.T) {
	t.Parallel()
	d := newDrill(t, shortGrace)
	run := d.begin(t, d.env, "sh", "-c", "echo begun; sleep 600 & sleep 600")
	d.prints(t, run, "begun\n")
	d.kill(t)
	if len(leftovers(t, run)) == 0 {
		t.Fatal("the work ended with the server")
	}
	leavesNothing(t, run, shortGrace+15*time.Second)
	d.start(t)
	got := d.ends(t, run, 30*time.Second)
	if got.Status != "lost" || got.Failure == nil {
		t.Errorf("the run %s; want lost, with a reason", got)
	}
	if out := d.output(t, run, "stdout"); out != "begun\n" {
		t.Errorf("its output is %q, want what had arrived", out)
	}
	b := open(t, d.url, desktop)
	b.visit("/companies/" + d.company + "/runs/" + run)
	b.inState("#run-summary", "lost")
	b.reads("#output", "begun")
}

// TestDrill_ServerKilledBeforeTheCommand: whatever phase it was in, the row does
// not stick, and says what happened.
func TestDrill_ServerKilledBeforeTheCommand(t *testing.T) {
	t.Parallel()
	d := newDrill(t, shortGrace)
	g := newGate(t, d.host.Addr())
	config := d.host.config()
	config["port"] = g.port
	var e struct{ ID string }
	d.call(t, "POST", "/api/companies/"+d.company+"/environments", map[string]any{"name": "Gated", "driver": "ssh", "config": config}, &e, 201)
	d.call(t, "POST", "/api/environments/"+e.ID+"/trust-host-key", map[string]any{"fingerprint": d.host.fingerprint()}, nil, 200)
	g.shut()
	run := d.begin(t, e.ID, "sh", "-c", "echo once")
	d.reaches(t, run, 10*time.Second, "acquiring")
	d.kill(t)
	g.reopen()
	d.start(t)
	got := d.ends(t, run, 60*time.Second)
	out := d.output(t, run, "stdout")
	switch {
	case got.Status == "succeeded" && out == "once\n":
	case (got.Status == "failed" || got.Status == "lost") && got.Failure != nil && out == "":
	default:
		t.Errorf("the run %s with output %q; want it done once, or ended with a reason", got, out)
	}
	leavesNothing(t, run, 5*time.Second)
}

// TestDrill_ServerKilledWhileCancelling: the next one goes on with the end.
func TestDrill_ServerKilledWhileCancelling(t *testing.T) {
	t.Parallel()
	d := newDrill(t, 30*time.Second)
	run := d.begin(t, d.env, "sh", "-c", `trap "" TERM; echo begun; while :; do sleep 0.2; done`)
	d.prints(t, run, "begun\n")
	d.call(t, "POST", "/api/runs/"+run+"/cancel", nil, nil, 202)
	d.kill(t)
	d.start(t)
	got := d.ends(t, run, 40*time.Second)
	if got.Status != "cancelled" {
		t.Errorf("the run %s; want cancelled", got)
	}
	leavesNothing(t, run, 5*time.Second)
}

// TestDrill_ServerKilledWhileProbing: the test is interrupted and says so; a new
// one can begin.
func TestDrill_ServerKilledWhileProbing(t *testing.T) {
	t.Parallel()
	d := newDrill(t, shortGrace)
	g := newGate(t, d.host.Addr())
	config := d.host.config()
	config["port"] = g.port
	var e struct{ ID string }
	d.call(t, "POST", "/api/companies/"+d.company+"/environments", map[string]any{"name": "Gated", "driver": "ssh", "config": config}, &e, 201)
	g.shut()
	var p struct {
		Details struct{ ProbeID, State string }
	}
	d.call(t, "POST", "/api/environments/"+e.ID+"/probe?wait=0", nil, &p, 202)
	id := p.Details.ProbeID
	until(t, 10*time.Second, "the probe runs", func() bool {
		d.call(t, "GET", "/api/probes/"+id, nil, &p, 200)
		return p.Details.State == "running"
	})
	d.kill(t)
	g.reopen()
	d.start(t)
	until(t, 20*time.Second, "the probe is interrupted", func() bool {
		d.call(t, "GET", "/api/probes/"+id, nil, &p, 200)
		return p.Details.State == "interrupted"
	})
	var row struct{ Health string }
	d.call(t, "GET", "/api/environments/"+e.ID, nil, &row, 200)
	if row.Health != "interrupted" {
		t.Errorf("the environment is %q, want interrupted", row.Health)
	}
	b := open(t, d.url, desktop)
	b.visit(pages + "/" + e.ID)
	b.inState("#test", "interrupted")
	b.visit(pages)
	b.inState("#env-"+e.ID, "interrupted")
	var again struct{ Details struct{ Code string } }
	d.call(t, "POST", "/api/environments/"+e.ID+"/probe", nil, &again, 200)
	if again.Details.Code != "host_key_unknown" {
		t.Errorf("the next test ends with %q, want host_key_unknown", again.Details.Code)
	}
}

// TestDrill_HostAwayWithinTheGrace: sshd dies with its connections and comes
// back; the work went on meanwhile.
func TestDrill_HostAwayWithinTheGrace(t *testing.T) {
	t.Parallel()
	d := newDrill(t, 30*time.Second)
	const n = 40
	run := d.begin(t, d.env, counting(n, "0.1")...)
	d.prints(t, run, "line 5\n")
	d.host.Kill()
	until(t, 10*time.Second, "the work goes on alone", func() bool { return len(leftovers(t, run)) > 0 })
	d.host.Start()
	got := d.ends(t, run, 60*time.Second)
	if got.Status != "failed" || got.ExitCode == nil || *got.ExitCode != 7 {
		t.Errorf("the run %s; want failed with exit code 7", got)
	}
	d.wantCounted(t, run, n)
	leavesNothing(t, run, 5*time.Second)
}

// TestDrill_HostAwayForLongerThanTheGrace: lost, with the last output kept, and
// the host ended the work by itself.
func TestDrill_HostAwayForLongerThanTheGrace(t *testing.T) {
	t.Parallel()
	d := newDrill(t, shortGrace)
	run := d.begin(t, d.env, "sh", "-c", "echo begun; sleep 600")
	d.prints(t, run, "begun\n")
	d.host.Kill()
	got := d.ends(t, run, shortGrace+60*time.Second)
	if got.Status != "lost" || got.Failure == nil {
		t.Errorf("the run %s; want lost, with a reason", got)
	}
	if out := d.output(t, run, "stdout"); out != "begun\n" {
		t.Errorf("its output is %q, want what had arrived", out)
	}
	leavesNothing(t, run, shortGrace+15*time.Second)
}

// TestDrill_WhatALostRunLeftIsRemoved: by the server that comes after the one
// that lost it, once the host is back.
func TestDrill_WhatALostRunLeftIsRemoved(t *testing.T) {
	t.Parallel()
	d := newDrill(t, shortGrace)
	run := d.begin(t, d.env, "sh", "-c", "echo begun; sleep 600")
	d.prints(t, run, "begun\n")
	folder := filepath.Join(d.host.Home, ".berth", "runs", run)
	d.host.Kill()
	if got := d.ends(t, run, shortGrace+60*time.Second); got.Status != "lost" {
		t.Errorf("the run %s; want lost", got)
	}
	leavesNothing(t, run, shortGrace+15*time.Second)
	d.kill(t)
	if _, err := os.Stat(folder); err != nil {
		t.Fatalf("the run left no folder: %v", err)
	}
	d.start(t)
	d.host.Start()
	until(t, 60*time.Second, "the folder is gone", func() bool { _, err := os.Stat(folder); return os.IsNotExist(err) })
}
