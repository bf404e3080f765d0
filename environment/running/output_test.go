package running_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"berth/environment"
	"berth/environment/running"
)

func chunks(t *testing.T, b *bed, id [16]byte) []environment.LogChunk {
	t.Helper()
	var found []environment.LogChunk
	for after := int64(0); ; {
		events, err := b.server.Events(context.Background(), operator, id, after)
		if err != nil {
			t.Fatal(err)
		}
		if len(events) == 0 {
			return found
		}
		for _, e := range events {
			if after = e.Seq; e.Chunk != nil {
				found = append(found, *e.Chunk)
			}
		}
	}
}

func TestC80_BytesAreKeptAsTheyCame(t *testing.T) {
	inBubble(t, newTarget(out(0, "a\x00b\xffc\n"), exit(0, 0)), func(t *testing.T, b *bed) {
		r := b.end(b.start(b.input("printf")).ID)
		if stdout, _ := b.output(r.ID); r.Status != environment.RunSucceeded || stdout != "a\x00b\xffc\n" {
			t.Errorf("got %s %q, want success and every byte", r.Status, stdout)
		}
	})
}

func TestOutput_charactersStayWhole(t *testing.T) {
	const text = "é€😀x"
	var steps []step
	for i := range len(text) {
		steps = append(steps, out(time.Second, text[i:i+1]))
	}
	inBubble(t, newTarget(append(steps, exit(time.Second, 0))...), func(t *testing.T, b *bed) {
		r := b.end(b.start(b.input("x")).ID)
		got := ""
		for _, c := range chunks(t, b, r.ID) {
			if !utf8.Valid(c.Data) {
				t.Errorf("chunk %q is cut within a character", c.Data)
			}
			got += string(c.Data)
		}
		if got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	})
}

func TestOutput_firstByteAtOnce(t *testing.T) {
	inBubble(t, newTarget(out(time.Second, "x"), exit(time.Hour, 0)), func(t *testing.T, b *bed) {
		r := b.start(b.input("x"))
		began := time.Now()
		r = b.wait(r.ID, func(r environment.Run) bool { return r.LogSize == 1 })
		if took := time.Since(began); took > 1100*time.Millisecond {
			t.Errorf("first byte after %s, want at once", took)
		}
	})
}

func TestOutput_floodMakesBigWrites(t *testing.T) {
	var steps []step
	for range 5000 {
		steps = append(steps, out(100*time.Microsecond, strings.Repeat("y", 100)))
	}
	inBubble(t, newTarget(append(steps, exit(0, 0))...), func(t *testing.T, b *bed) {
		r := b.end(b.start(b.input("yes")).ID)
		if r.LogSize != 500_000 {
			t.Errorf("%d bytes arrived, want 500000", r.LogSize)
		}
		if n := len(b.server.store.sizes()); n > 40 {
			t.Errorf("%d writes for half a second of output, want one each 25 ms or 32 KiB", n)
		}
		for _, c := range chunks(t, b, r.ID) {
			if len(c.Data) > 32<<10 {
				t.Errorf("a chunk of %d bytes", len(c.Data))
			}
		}
	})
}

func TestOutput_absentDatabaseSlowsTheDriverDown(t *testing.T) {
	steps := []step{out(0, "x")}
	for range 400 {
		steps = append(steps, out(10*time.Millisecond, strings.Repeat("y", 16<<10)))
	}
	inBubble(t, newTarget(append(steps, exit(0, 0))...), func(t *testing.T, b *bed) {
		r := b.start(b.input("yes"))
		b.wait(r.ID, func(r environment.Run) bool { return r.LogSize > 0 })
		b.server.store.setAway(true)
		time.Sleep(20 * time.Second)
		b.server.store.setAway(false)
		r = b.end(r.ID)
		if r.Status != environment.RunSucceeded || r.LogSize != 1+400*16<<10 {
			t.Errorf("got %s with %d bytes, want all", r.Status, r.LogSize)
		}
		for _, size := range b.server.store.sizes() {
			if size > 1<<20+16<<10 {
				t.Errorf("a write of %d bytes: they were held in memory", size)
			}
		}
	})
}

func TestOutput_longLogKeepsBothEnds(t *testing.T) {
	mega := strings.Repeat("m", 1<<20)
	steps := []step{out(0, "head")}
	for range 20 {
		steps = append(steps, out(time.Second, mega))
	}
	inBubble(t, newTarget(append(steps, out(0, "tail"), exit(time.Second, 0))...), func(t *testing.T, b *bed) {
		r := b.end(b.start(b.input("x")).ID)
		stdout, _ := b.output(r.ID)
		if r.Status != environment.RunSucceeded || r.LogSize != 20<<20+8 || r.LogCut == 0 {
			t.Errorf("got %s, size %d, cut %d; want success and the middle cut", r.Status, r.LogSize, r.LogCut)
		}
		if !strings.HasPrefix(stdout, "head") || !strings.HasSuffix(stdout, "tail") || len(stdout) > environment.MaxRunLog+64<<10 {
			t.Errorf("kept %d bytes, from %.8q", len(stdout), stdout)
		}
	})
}

func TestOutput_secretsAreMasked(t *testing.T) {
	steps := []step{
		out(0, "stored: stored-canary own: own-"), out(time.Second, "canary var: env-canary\n"),
		fails(0, "plain: visible "), fails(time.Second, "own-ca"), exit(time.Second, 0),
	}
	inBubble(t, newTarget(steps...), func(t *testing.T, b *bed) {
		b.specs.secrets = map[string]environment.Secret{"password": environment.NewSecret("stored-canary\n"), "passphrase": environment.NewSecret("n: ")}
		b.specs.vars = []environment.EnvValue{{Name: "DB_PASSWORD", Value: environment.NewSecret("env-canary"), Masked: true},
			{Name: "MODE", Value: environment.NewSecret("visible")}}
		in := b.input("x")
		in.Env = map[string]string{"API_TOKEN": "own-canary", "OTHER": "visible"}
		r := b.end(b.start(in).ID)
		stdout, stderr := b.output(r.ID)
		if want := "stored: ************* own: ********** var: **********\n"; stdout != want {
			t.Errorf("stdout %q, want %q", stdout, want)
		}
		if want := "plain: visible own-ca"; stderr != want {
			t.Errorf("stderr %q, want %q: what is no secret comes out in the end", stderr, want)
		}
	})
}

// The beginning of a secret is out when the server dies; the next server must
// neither show its rest nor lose a byte.
func TestOutput_secretAcrossARestart(t *testing.T) {
	for name, stop := range map[string]func(*server){"killed": (*server).kill, "stopped": func(s *server) { s.stop() }} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, newTarget(out(0, "a own-can"), out(20*time.Second, "ary env-canary b"), exit(time.Second, 0)), func(t *testing.T, b *bed) {
				b.specs.vars = []environment.EnvValue{{Name: "DB_PASSWORD", Value: environment.NewSecret("env-canary"), Masked: true}}
				in := b.input("x")
				in.Env = map[string]string{"API_TOKEN": "own-canary"}
				r := b.start(in)
				b.wait(r.ID, func(r environment.Run) bool { return r.LogSize > 0 })
				if kept := b.run(r.ID).Input; bytes.Contains(kept, []byte("canary")) {
					t.Error("the masked values are kept in the clear")
				}
				time.Sleep(time.Second)
				stop(b.server)
				b.boot()
				r = b.end(r.ID)
				if stdout, _ := b.output(r.ID); stdout != "a ********** ********** b" || r.Input != nil {
					t.Errorf("got %q and input %v, want both masked and nothing kept", stdout, r.Input)
				}
			})
		})
	}
}

// A command ends in time but wrote more than the database takes until long
// after its timeout: it is still a success, and all of it arrives.
func TestOutput_deliveredLongAfterTheTimeout(t *testing.T) {
	steps := []step{}
	for range 10 {
		steps = append(steps, out(0, strings.Repeat("y", 1<<20)))
	}
	inBubble(t, newTarget(append(steps, exit(time.Second, 0))...), func(t *testing.T, b *bed) {
		b.server.store.before = func(int) {
			if r := onlyRun(t, b); r.Status == environment.RunRunning {
				time.Sleep(20 * time.Second) // each write
			}
		}
		in := b.input("x")
		in.TimeoutSec = new(5)
		r := b.end(b.start(in).ID)
		if r.Status != environment.RunSucceeded || r.LogSize != 10<<20 || r.Termination != "proven" {
			t.Errorf("got %s %+v %s with %d bytes, want success and all", r.Status, r.Failure, r.Termination, r.LogSize)
		}
		if took := r.FinishedAt.Sub(r.CreatedAt); took < 2*time.Minute {
			t.Errorf("took only %s: the test tests nothing", took)
		}
	})
}

func onlyRun(t *testing.T, b *bed) environment.Run {
	t.Helper()
	page, err := b.store.Runs(context.Background(), running.Filter{})
	if err != nil || len(page.Items) > 1 {
		t.Errorf("runs %+v, %v", page, err)
	}
	if len(page.Items) == 0 {
		return environment.Run{}
	}
	return page.Items[0]
}
