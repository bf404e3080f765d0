package docker

import (
	"bytes"
	"context"
	"io"
	"sync"

	"berth/environment"

	"github.com/moby/moby/client"
)

// output runs a short command without input and returns the first limit bytes of
// its standard output and its exit code. Nothing but the program itself is run: no
// start-up file prints before it.
func (s *sandbox) output(ctx context.Context, argv []string, limit int64) ([]byte, int, error) {
	x, err := s.run(ctx, client.ExecCreateOptions{Cmd: argv})
	if err != nil {
		return nil, 0, err
	}
	return x.read(ctx, limit)
}

// read reads a command to its end and closes its session.
func (x *session) read(ctx context.Context, limit int64) ([]byte, int, error) {
	s := x.sandbox
	var reading sync.WaitGroup
	defer reading.Wait()
	defer func() { _ = x.Close() }()
	defer context.AfterFunc(ctx, func() { _ = x.Close() })()
	reading.Go(func() { _, _ = io.Copy(io.Discard, x.stderr) }) // noise
	var out bytes.Buffer
	_, err := io.Copy(&out, io.LimitReader(x.stdout, limit))
	if err == nil {
		_, err = io.Copy(io.Discard, x.stdout)
	}
	if ctx.Err() != nil {
		return nil, 0, late(ctx, "The sandbox did not answer in time.")
	}
	if err != nil {
		return nil, 0, s.explain(ctx, err, environment.CodeConnectionLost, "read a command's output")
	}
	code, err := s.exitCode(ctx, x.id, x.drained)
	return out.Bytes(), code, err
}
