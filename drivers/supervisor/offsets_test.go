package supervisor

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/drivers/shell"
	"berth/environment"

	"pgregory.net/rapid"
)

// model is a target of which only the protocol is left: a run that has ended
// with two outputs, of which each session follows a part and is then cut, or
// goes on to the end.
type model struct {
	streams [2][]byte
	plans   []plan
	opened  int
	gone    bool
}

// plan is how one session goes.
type plan struct {
	followed [2]int // bytes that are followed before the end mark
	piece    int    // size of a write
	cut      int    // bytes of stdout after which it breaks; -1: never
}

func (m *model) open(context.Context) (shell.Session, error) {
	p := plan{piece: 1 << 20, cut: -1}
	if m.opened < len(m.plans) {
		p = m.plans[m.opened]
	}
	m.opened++
	s := &modelSession{model: m, plan: p, ended: make(chan struct{})}
	s.in, s.inW = io.Pipe()
	s.outR, s.out = io.Pipe()
	s.errR, s.err = io.Pipe()
	go func() {
		defer close(s.ended)
		s.result = s.serve()
		s.hang()
	}()
	return s, nil
}

type modelSession struct {
	model      *model
	plan       plan
	in         *io.PipeReader
	inW        *io.PipeWriter
	outR, errR *io.PipeReader
	out, err   *io.PipeWriter
	ended      chan struct{}
	result     error
	once       sync.Once
}

func (s *modelSession) hang() {
	s.once.Do(func() {
		for _, end := range []io.Closer{s.in, s.inW, s.out, s.err} {
			_ = end.Close() // a pipe's Close cannot fail
		}
	})
}

func (s *modelSession) Write(b []byte) (int, error) { return s.inW.Write(b) }
func (s *modelSession) CloseWrite() error           { return s.inW.Close() }
func (s *modelSession) Stdout() io.Reader           { return s.outR }
func (s *modelSession) Stderr() io.Reader           { return s.errR }
func (s *modelSession) Wait() error                 { <-s.ended; return s.result }
func (s *modelSession) Close() error {
	_, _ = s.outR.Close(), s.errR.Close()
	s.hang()
	<-s.ended
	return nil
}

var assigned = regexp.MustCompile(`(?m)^(nonce|o|e)='([^']*)'$`)

// serve is session.sh, without a shell.
func (s *modelSession) serve() error {
	in := bufio.NewReader(s.in)
	line, err := in.ReadString('\n')
	if err != nil {
		return err
	}
	size, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return err
	}
	script := make([]byte, size)
	if _, err := io.ReadFull(in, script); err != nil {
		return err
	}
	vars := map[string]string{}
	for _, m := range assigned.FindAllStringSubmatch(string(script), -1) {
		vars[m[1]] = m[2]
	}
	out := &cutWriter{w: s.out, left: s.plan.cut}
	if s.model.gone {
		return s.say(out, vars["nonce"], "none")
	}
	if err := s.say(out, vars["nonce"], "ok\n1\n2\nboot\nhost\n/run\n/cwd"); err != nil {
		return err
	}
	from := [2]int{number0(vars["o"]), number0(vars["e"])}
	if err := s.follow(out, vars["nonce"], from); err != nil {
		return err
	}
	return s.obey(in, out)
}

func (s *modelSession) say(out io.Writer, nonce, answer string) error {
	if _, err := fmt.Fprintf(out, "noise\n%s{\n%s\n%s}\n", nonce, answer, nonce); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.err, "noise\n%s}\n", nonce)
	return err
}

// follow gives out a part of both streams at the same time, then the end mark.
func (s *modelSession) follow(out io.Writer, nonce string, from [2]int) error {
	var both sync.WaitGroup
	var errs [2]error
	for i, w := range []io.Writer{out, s.err} {
		part := s.model.streams[i][from[i]:max(from[i], min(s.plan.followed[i], len(s.model.streams[i])))]
		both.Go(func() {
			errs[i] = s.pieces(w, part)
		})
	}
	both.Wait()
	if errs[0] != nil || errs[1] != nil {
		return io.ErrUnexpectedEOF
	}
	record := fmt.Sprintf("7 exit 1 0 %d %d", len(s.model.streams[0]), len(s.model.streams[1]))
	mark := "\x00\x00" + nonce + "!\n"
	if err := s.pieces(out, []byte(mark+record+"\n")); err != nil {
		return err
	}
	return s.pieces(s.err, []byte(mark))
}

// pieces writes in pieces, as a network does.
func (s *modelSession) pieces(w io.Writer, data []byte) error {
	for len(data) > 0 {
		n := min(s.plan.piece, len(data))
		if _, err := w.Write(data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

func (s *modelSession) obey(in *bufio.Reader, out io.Writer) error {
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return err
		}
		words := strings.Fields(line)
		switch words[0] {
		case "f":
			for i, w := range []io.Writer{out, s.err} {
				rest := s.model.streams[i][number0(words[i+1]):]
				if len(rest) == 0 {
					continue // an empty write would wait for a reader
				}
				if _, err := w.Write(rest); err != nil {
					return err
				}
			}
		case "d":
			s.model.gone = true
			return nil
		}
	}
}

func number0(text string) int {
	n, _ := strconv.Atoi(text) // ours
	return n
}

// cutWriter breaks after a number of bytes.
type cutWriter struct {
	w    io.Writer
	left int
}

func (c *cutWriter) Write(b []byte) (int, error) {
	if c.left < 0 || len(b) <= c.left {
		if c.left >= 0 {
			c.left -= len(b)
		}
		return c.w.Write(b)
	}
	n, _ := c.w.Write(b[:c.left]) // it breaks either way
	c.left = 0
	return n, io.ErrUnexpectedEOF
}

// TestEveryByteOnce holds for any outputs, even such as look like the end mark,
// any cuts, and any part that was stored before.
func TestEveryByteOnce(t *testing.T) {
	output := rapid.Custom(func(t *rapid.T) []byte {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "line\n", "\x00", "\x00\x00", "\x00\x000123456789abcdef0123456789abcdef!\n", "\xff\xc3"}), 0, 40).Draw(t, "parts")
		return []byte(strings.Join(parts, ""))
	})
	rapid.Check(t, func(t *rapid.T) {
		m := &model{streams: [2][]byte{output.Draw(t, "stdout"), output.Draw(t, "stderr")}}
		m.plans = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) plan {
			return plan{followed: [2]int{rapid.IntRange(0, 300).Draw(t, "out"), rapid.IntRange(0, 300).Draw(t, "err")},
				piece: rapid.IntRange(1, 50).Draw(t, "piece"), cut: rapid.IntRange(-1, 700).Draw(t, "cut")}
		}), 0, 3).Draw(t, "sessions")
		e := environment.Exec{Marker: "m", Argv: []string{"x"}, Grace: 10 * time.Second, Resume: rapid.Bool().Draw(t, "resume")}
		got := map[environment.Stream][]byte{environment.Stdout: {}, environment.Stderr: {}}
		if e.Resume {
			e.Received = map[environment.Stream]int64{}
			for i, stream := range []environment.Stream{environment.Stdout, environment.Stderr} {
				stored := rapid.IntRange(0, len(m.streams[i])).Draw(t, "stored")
				e.Received[stream] = int64(stored)
				got[stream] = append(got[stream], m.streams[i][:stored]...)
			}
		}
		starts := 0
		e.OnStart = func(environment.Process, environment.HostFacts, string) error { starts++; return nil }
		e.Output = func(stream environment.Stream, offset int64, data []byte) error {
			if offset != int64(len(got[stream])) || len(data) == 0 {
				t.Fatalf("%s: %d bytes at %d, want the next at %d", stream, len(data), offset, len(got[stream]))
			}
			got[stream] = append(got[stream], data...)
			return nil
		}
		result, err := run(context.Background(), m.open, environment.Ref{}, e, options{shell: "/bin/sh", spool: maxSpool, backoff: time.Microsecond})
		if err != nil || result.ExitCode != 7 || result.Ended != "exit" || starts != 1 {
			t.Fatalf("got %+v, %v, %d starts", result, err, starts)
		}
		if !bytes.Equal(got[environment.Stdout], m.streams[0]) || !bytes.Equal(got[environment.Stderr], m.streams[1]) {
			t.Fatalf("got %q and %q, want %q and %q", got[environment.Stdout], got[environment.Stderr], m.streams[0], m.streams[1])
		}
	})
}
