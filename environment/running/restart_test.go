package running_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/environment"
)

// talk is a command that speaks for a while and ends.
func talk() ([]step, string, string) {
	var steps []step
	var stdout, stderr strings.Builder
	for i := range 20 {
		line := fmt.Sprintf("é line %d\n", i)
		stdout.WriteString(line)
		steps = append(steps, out(500*time.Millisecond, line[:1]), out(0, line[1:]))
		if i%5 == 0 {
			steps = append(steps, fails(0, line))
			stderr.WriteString(line)
		}
	}
	return append(steps, exit(time.Second, 7)), stdout.String(), stderr.String()
}

// checkWhole checks a run of talk that must have ended as if nothing had been.
func checkWhole(t fatal, b *bed, r environment.Run) {
	t.Helper()
	_, wantOut, wantErr := talk()
	gotOut, gotErr := b.output(r.ID)
	if r.Status != environment.RunFailed || r.ExitCode == nil || *r.ExitCode != 7 || r.Failure.Code != "command_failed" {
		t.Errorf("got %s exit %v %+v, want exit 7", r.Status, r.ExitCode, r.Failure)
	}
	if gotOut != wantOut || gotErr != wantErr {
		t.Errorf("output %q and %q, want it whole", gotOut, gotErr)
	}
	if n := b.target.started(r.ID); n != 1 {
		t.Errorf("started %d times, want once", n)
	}
	checkClean(t, b)
}

// checkClean checks that nothing is left on the target and no row holds on.
func checkClean(t fatal, b *bed) {
	t.Helper()
	if left := b.target.left(); left != 0 {
		t.Errorf("%d commands left on the target", left)
	}
	for range 100 { // a sweep comes by
		if open := openLeases(t, b); open == 0 {
			return
		}
		time.Sleep(time.Second)
	}
	t.Errorf("%d leases stay open", openLeases(t, b))
}

func openLeases(t fatal, b *bed) int {
	t.Helper()
	page, err := b.store.Leases(context.Background(), leaseFilter())
	if err != nil {
		t.Fatalf("leases: %v", err)
	}
	open := 0
	for _, l := range page.Items {
		if !l.Status.Ended() {
			open++
		}
	}
	return open
}

// A server is killed at each of its writes, before and after it takes effect,
// and another starts: the run ends as if nothing had been.
func TestRun_killedAtEveryWrite(t *testing.T) {
	steps, _, _ := talk()
	for _, after := range []bool{false, true} {
		for n := 2; ; n++ { // the first write is the row itself
			reached := false
			t.Run(fmt.Sprintf("write %d after=%v", n, after), func(t *testing.T) {
				inBubble(t, newTarget(steps...), func(t *testing.T, b *bed) {
					b.server.store.crashAt, b.server.store.after = n, after
					r := b.start(b.input("talk"))
					first := b.server
					for range 300 {
						if reached = first.store.dead(); reached || b.run(r.ID).Status.Ended() {
							break
						}
						time.Sleep(100 * time.Millisecond)
					}
					if reached {
						time.Sleep(5 * time.Second)
						b.boot()
					}
					checkWhole(t, b, b.end(r.ID))
				})
			})
			if !reached || t.Failed() {
				break
			}
		}
	}
}

func TestRun_killedPastTheGraceIsLost(t *testing.T) {
	steps, wantOut, _ := talk()
	steps = append(steps[:len(steps)-1:len(steps)-1], out(time.Hour, "late"), exit(0, 0))
	inBubble(t, newTarget(steps...), func(t *testing.T, b *bed) {
		r := b.start(b.input("talk"))
		b.wait(r.ID, is(environment.RunRunning))
		time.Sleep(3 * time.Second)
		b.server.kill()
		before, _ := b.output(r.ID)
		time.Sleep(2 * time.Minute)
		b.boot()
		r = b.end(r.ID)
		got, _ := b.output(r.ID)
		if r.Status != environment.RunLost || r.Failure == nil || before == "" || !strings.HasPrefix(got, before) {
			t.Errorf("got %s %+v with %q after %q, want lost with the output kept", r.Status, r.Failure, got, before)
		}
		if !strings.HasPrefix(wantOut+"late", got) {
			t.Errorf("output %q is not the command's", got)
		}
		checkClean(t, b)
	})
}

func TestRun_orderlyStopLeavesTheWork(t *testing.T) {
	steps, _, _ := talk()
	inBubble(t, newTarget(steps...), func(t *testing.T, b *bed) {
		r := b.start(b.input("talk"))
		b.wait(r.ID, is(environment.RunRunning))
		time.Sleep(3 * time.Second)
		began := time.Now()
		b.server.stop()
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("stop took %s", took)
		}
		if got := b.run(r.ID).Status; got != environment.RunRunning || b.target.left() != 1 {
			t.Errorf("run %s with %d left on the target, want it running on", got, b.target.left())
		}
		time.Sleep(20 * time.Second)
		b.boot()
		checkWhole(t, b, b.end(r.ID))
	})
}

func TestRun_goneFromTheTargetIsLost(t *testing.T) {
	inBubble(t, newTarget(out(0, "x"), out(time.Hour, "")), func(t *testing.T, b *bed) {
		r := b.start(b.input("x"))
		b.wait(r.ID, func(r environment.Run) bool { return r.LogSize == 1 })
		b.server.kill()
		b.target.set(func(t *target) { // the machine was set up anew
			for marker, w := range t.works {
				w.end(environment.ExecResult{})
				delete(t.works, marker)
			}
		})
		b.boot()
		r = b.end(r.ID)
		if stdout, _ := b.output(r.ID); r.Status != environment.RunLost || stdout != "x" || b.target.started(r.ID) != 1 {
			t.Errorf("got %s %q, started %d times; want lost and not started again", r.Status, stdout, b.target.started(r.ID))
		}
		checkClean(t, b)
	})
}

func TestRun_environmentDeletedMeanwhile(t *testing.T) {
	steps, _, _ := talk()
	inBubble(t, newTarget(steps...), func(t *testing.T, b *bed) {
		r := b.start(b.input("talk"))
		b.wait(r.ID, is(environment.RunRunning))
		b.server.kill()
		if _, err := b.store.UpdateRun(context.Background(), r.ID, b.run(r.ID).Owner, func(r *environment.Run) error {
			r.EnvironmentID = nil
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		b.boot()
		checkWhole(t, b, b.end(r.ID))
	})
}

func TestRun_takenOverByAnotherServer(t *testing.T) {
	steps, _, _ := talk()
	inBubble(t, newTarget(steps...), func(t *testing.T, b *bed) {
		first := b.server
		r := b.start(b.input("talk"))
		b.wait(r.ID, is(environment.RunRunning))
		// The first is declared dead although it lives: it must let go.
		b.boot()
		writes := func() int { return len(first.store.sizes()) }
		time.Sleep(2 * time.Second)
		before := writes()
		time.Sleep(3 * time.Second)
		if writes() != before {
			t.Error("the first server still writes")
		}
		checkWhole(t, b, b.end(r.ID))
	})
}

func TestRun_databaseAwayFor20Seconds(t *testing.T) {
	steps, _, _ := talk()
	for _, at := range []time.Duration{0, 10 * time.Millisecond, 3 * time.Second, 9 * time.Second} {
		t.Run(at.String(), func(t *testing.T) {
			inBubble(t, newTarget(steps...), func(t *testing.T, b *bed) {
				r := b.start(b.input("talk"))
				time.Sleep(at)
				b.server.store.setAway(true)
				time.Sleep(20 * time.Second)
				b.server.store.setAway(false)
				checkWhole(t, b, b.end(r.ID))
			})
		})
	}
}

// crowd is how many servers are, and were at most, attached to the one command.
func (t *target) crowd() (now, most int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.works {
		now, most = w.attached, w.most
	}
	return now, most
}

func TestRun_takenOverWhileItSaysNothing(t *testing.T) {
	inBubble(t, newTarget(out(10*time.Minute, "x"), exit(0, 0)), func(t *testing.T, b *bed) {
		r := b.start(b.input("x"))
		b.wait(r.ID, is(environment.RunRunning))
		b.boot() // the first is declared dead although it lives
		time.Sleep(10 * time.Second)
		if now, _ := b.target.crowd(); now != 1 {
			t.Errorf("%d servers at the command, want the new one only", now)
		}
		if r = b.end(r.ID); r.Status != environment.RunSucceeded {
			t.Errorf("got %s, want success", r.Status)
		}
	})
}

// A server loses a run and gets it back before its worker noticed.
func TestRun_comesBackToAServerThatLostIt(t *testing.T) {
	steps, _, _ := talk()
	inBubble(t, newTarget(steps...), func(t *testing.T, b *bed) {
		r := b.start(b.input("talk"))
		b.wait(r.ID, is(environment.RunRunning))
		other := environment.NewID()
		if _, err := b.store.UpdateRun(context.Background(), r.ID, b.server.owner, func(r *environment.Run) error {
			r.Owner = other // which is not alive
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if n, err := b.server.Tick(context.Background()); n != 1 || err != nil {
			t.Fatalf("%d taken over, %v", n, err)
		}
		time.Sleep(time.Second)
		if now, most := b.target.crowd(); now != 1 || most != 1 {
			t.Errorf("%d workers at the command, %d at most; want one after the other", now, most)
		}
		checkWhole(t, b, b.end(r.ID))
	})
}

func TestRun_resumeAsksOnlyForWhatIsMissing(t *testing.T) {
	steps, _, _ := talk()
	inBubble(t, newTarget(steps...), func(t *testing.T, b *bed) {
		r := b.start(b.input("talk"))
		b.wait(r.ID, func(r environment.Run) bool { return r.LogSize > 50 })
		time.Sleep(100 * time.Millisecond)
		b.server.kill()
		stored, err := b.store.Received(context.Background(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		b.boot()
		time.Sleep(100 * time.Millisecond)
		if seen := b.target.last(); !seen.Resume || seen.Received[environment.Stdout] != stored[environment.Stdout] || seen.Received[environment.Stderr] != stored[environment.Stderr] {
			t.Errorf("asked from %v, want from %v", seen.Received, stored)
		}
		checkWhole(t, b, b.end(r.ID))
	})
}
