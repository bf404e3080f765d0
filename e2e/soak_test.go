//go:build soak

package e2e

import (
	"fmt"
	"testing"
	"time"

	"berth/drivers/docker/enginetest"
	domain "berth/environment"
)

// TestSoak runs the drills with the timers of production.
func TestSoak(t *testing.T) {
	for name, drill := range map[string]func(*testing.T){
		"server gone for longer than the grace": serverGone,
		"host gone for longer than the grace":   hostGone,
		"server killed again and again":         serverKilledOften,
		"host dropped again and again":          hostDroppedOften,
		"database away for 20 s":                func(t *testing.T) { outage(t, 20*time.Second) },
		"many runs and tests at once":           many,
		"servers killed before an engine":       func(t *testing.T) { killServers(t, 200) },
		"servers killed at every step":          func(t *testing.T) { crashPoints(t, true) },
		"engine and registry in trouble":        func(t *testing.T) { engineFaults(t, 200, time.Minute) },
		"a sandbox that takes long to resume":   slowResume,
	} {
		t.Run(name, drill)
	}
}

// slowResume wants a resume that needs more than a minute to succeed, also when its
// first tries are not answered, and one that fails to take no longer than it may.
func slowResume(t *testing.T) {
	const needs = 65 * time.Second
	r := newResumes(t, func(e *enginetest.Engine) string { return e.Slow(t, needs) }, 180)
	before := r.keeps(t, 5*time.Minute, "sh", "-c", "echo mine > note")
	r.proxy.LoseAnswer("/start", 1)
	began := time.Now()
	after := r.keeps(t, 5*time.Minute, "cat", "note")
	took := time.Since(began)
	if took < needs || after.ProviderLeaseID != before.ProviderLeaseID || after.Acquisition != "resumed" {
		t.Errorf("after %s it was %+v, before %+v", took, after, before)
	}
	t.Logf("resumed in %s", took.Round(time.Second))
	newResumes(t, func(e *enginetest.Engine) string { return e.Busybox(t) }, 75).fails(t, 75*time.Second)
}

// serverGone wants the work to live for most of the grace and to be gone soon
// after it.
func serverGone(t *testing.T) {
	d := newDrill(t, domain.RunGrace)
	run := d.begin(t, d.env, "sh", "-c", "echo begun; sleep 600 & sleep 600")
	d.prints(t, run, "begun\n")
	d.kill(t)
	killed := time.Now()
	leavesNothing(t, run, domain.RunGrace+20*time.Second)
	lived := time.Since(killed)
	t.Logf("the work lived for %s without a server", lived.Round(time.Second))
	if lived < domain.RunGrace-15*time.Second {
		t.Errorf("the work lived for %s only, the grace is %s", lived, domain.RunGrace)
	}
	d.start(t)
	if got := d.ends(t, run, 30*time.Second); got.Status != "lost" || got.Failure == nil {
		t.Errorf("the run %s; want lost, with a reason", got)
	}
}

func hostGone(t *testing.T) {
	d := newDrill(t, domain.RunGrace)
	run := d.begin(t, d.env, "sh", "-c", "echo begun; sleep 600")
	d.prints(t, run, "begun\n")
	d.host.Kill()
	if got := d.ends(t, run, 2*domain.RunGrace); got.Status != "lost" || got.Failure == nil {
		t.Errorf("the run %s; want lost, with a reason", got)
	}
	leavesNothing(t, run, domain.RunGrace)
}

func serverKilledOften(t *testing.T) {
	d := newDrill(t, domain.RunGrace)
	const n = 600
	run := d.begin(t, d.env, counting(n, "0.1")...)
	for i := range 10 {
		d.prints(t, run, fmt.Sprintf("line %d\n", 40*(i+1)))
		d.kill(t)
		d.start(t)
	}
	if got := d.ends(t, run, 2*time.Minute); got.ExitCode == nil || *got.ExitCode != 7 {
		t.Errorf("the run %s; want exit code 7", got)
	}
	d.wantCounted(t, run, n)
	leavesNothing(t, run, 5*time.Second)
}

func hostDroppedOften(t *testing.T) {
	d := newDrill(t, domain.RunGrace)
	const n = 600
	run := d.begin(t, d.env, counting(n, "0.1")...)
	for i := range 10 {
		d.prints(t, run, fmt.Sprintf("line %d\n", 40*(i+1)))
		if i%2 == 0 {
			d.host.DropConnections()
			continue
		}
		d.host.Kill()
		d.host.Start()
	}
	if got := d.ends(t, run, 2*time.Minute); got.ExitCode == nil || *got.ExitCode != 7 {
		t.Errorf("the run %s; want exit code 7", got)
	}
	d.wantCounted(t, run, n)
	leavesNothing(t, run, 5*time.Second)
}

// many starts 40 runs and 40 tests at once, and wants all of them whole.
func many(t *testing.T) {
	d := newDrill(t, domain.RunGrace)
	var runs, probes []string
	for range 40 {
		runs = append(runs, d.begin(t, d.env, counting(50, "0.05")...))
		var p struct{ Details struct{ ProbeID string } }
		d.call(t, "POST", "/api/companies/"+d.company+"/environments/probe-config?wait=0", map[string]any{"driver": "ssh", "config": d.host.config()}, &p, 202)
		probes = append(probes, p.Details.ProbeID)
	}
	for _, id := range runs {
		if got := d.ends(t, id, 3*time.Minute); got.ExitCode == nil || *got.ExitCode != 7 {
			t.Errorf("run %s %s; want exit code 7", id, got)
		}
		d.wantCounted(t, id, 50)
		leavesNothing(t, id, 5*time.Second)
	}
	for _, id := range probes {
		until(t, time.Minute, "test "+id+" ends", func() bool {
			var p struct{ Details struct{ State string } }
			d.call(t, "GET", "/api/probes/"+id, nil, &p, 200)
			return p.Details.State == "done"
		})
	}
}
