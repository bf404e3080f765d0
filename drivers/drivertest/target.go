package drivertest

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"berth/environment"
)

// target is a leased target to run commands in.
type target struct {
	driver environment.Driver
	ref    environment.Ref
	rounds int // of what races, if anything does
}

// Rounds on a host, and in a sandbox, where each is several calls of an engine and
// what may race is the same program.
const (
	roundsOnHost    = 10
	roundsInSandbox = 4
)

// outcome is what a command did.
type outcome struct {
	result environment.ExecResult
	err    error
	out    string
	errOut string
}

func (o outcome) String() string {
	return fmt.Sprintf("%+v, error %v, output %q, error output %q", o.result, o.err, o.out, o.errOut)
}

// capture collects the output of one command and checks its offsets.
type capture struct {
	t       *testing.T
	mu      sync.Mutex
	streams map[environment.Stream]*bytes.Buffer
	seen    func(stream environment.Stream, all string) // called after each piece
	refusal error                                       // of every piece; nil: it is taken
}

func newCapture(t *testing.T) *capture {
	return &capture{t: t, streams: map[environment.Stream]*bytes.Buffer{
		environment.Stdout: new(bytes.Buffer), environment.Stderr: new(bytes.Buffer),
	}}
}

func (c *capture) output(stream environment.Stream, offset int64, data []byte) error {
	if c.refusal != nil {
		return c.refusal
	}
	c.mu.Lock()
	b := c.streams[stream]
	if offset != int64(b.Len()) {
		c.t.Errorf("%s came at offset %d, want %d", stream, offset, b.Len())
	}
	b.Write(data)
	all := b.String()
	c.mu.Unlock()
	if c.seen != nil {
		c.seen(stream, all)
	}
	return nil
}

func (c *capture) received() map[environment.Stream]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return map[environment.Stream]int64{
		environment.Stdout: int64(c.streams[environment.Stdout].Len()),
		environment.Stderr: int64(c.streams[environment.Stderr].Len()),
	}
}

// run runs a command to its end. The fields that e leaves out are filled in.
func (x *target) run(t *testing.T, e environment.Exec) outcome {
	t.Helper()
	return x.runWith(t.Context(), t, e, newCapture(t))
}

func (x *target) runWith(ctx context.Context, t *testing.T, e environment.Exec, c *capture) outcome {
	t.Helper()
	if e.Marker == "" {
		e.Marker = environment.NewID().String()
	}
	if e.Grace == 0 {
		e.Grace = 20 * time.Second
	}
	e.Output = c.output
	result, err := x.driver.(environment.Execer).Exec(ctx, x.ref, e)
	c.mu.Lock()
	defer c.mu.Unlock()
	return outcome{result: result, err: err, out: c.streams[environment.Stdout].String(), errOut: c.streams[environment.Stderr].String()}
}

// sh runs a script and returns what it printed; it must end with 0.
func (x *target) sh(t *testing.T, script string) string {
	t.Helper()
	o := x.run(t, environment.Exec{Argv: []string{"sh", "-c", script}})
	if o.err != nil || o.result.ExitCode != 0 {
		t.Fatalf("run %q on the target: %+v", script, o)
	}
	return o.out
}

// commandsWith lists the processes on the target with a number on their command
// line.
func (x *target) commandsWith(t *testing.T, number string) string {
	t.Helper()
	// The brackets keep this command from finding itself.
	return x.sh(t, fmt.Sprintf("grep -l '[%s]%s' /proc/[0-9]*/cmdline 2>/dev/null; true", number[:1], number[1:]))
}

// left lists the run folders of a marker on the target.
func (x *target) left(t *testing.T, marker string) string {
	t.Helper()
	return x.sh(t, `ls -d "$HOME"/.berth/runs/`+marker+`* /tmp/berth-*/runs/`+marker+`* 2>/dev/null; true`)
}
