package supervisor

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"berth/environment"
)

const (
	maxNoise  = 1 << 20  // bytes of the account's start-up files before the first word
	maxAnswer = 64 << 10 // bytes of the first word
)

var errNoise = errors.New("the session said too much that is not an answer")

// readOut reads who the run is, then its stdout, then its record.
func (s *session) readOut(prelude *time.Timer) error {
	opened := false
	defer func() {
		if !opened {
			close(s.ready)
		}
	}()
	if err := s.listen(); err != nil {
		return err
	}
	if _, err := upTo(s.out, s.nonce+"{\n", maxNoise); err != nil {
		return err
	}
	answer, err := upTo(s.out, s.nonce+"}\n", maxAnswer)
	if err != nil {
		return err
	}
	prelude.Stop()
	s.spoke = true
	s.work.renew(time.Now())
	if err := s.greet(answer); err != nil {
		return err
	}
	opened, s.accepted = true, true
	close(s.ready)
	if err := s.follow(s.out, environment.Stdout); err != nil {
		return err
	}
	line, err := s.out.ReadString('\n')
	if err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	s.work.final, err = parseRecord(line)
	return err
}

// listen waits until a shell that was prepared takes more: some heads read ahead of
// what they are to read.
func (s *session) listen() error {
	defer close(s.heard)
	if !s.ahead {
		return nil
	}
	_, err := upTo(s.out, s.nonce+"<\n", maxNoise)
	return err
}

// readErr reads stderr, from behind whatever the account's start-up files said.
func (s *session) readErr() error {
	if _, err := upTo(s.err, s.nonce+"}\n", maxNoise); err != nil {
		return err
	}
	<-s.ready
	if !s.accepted {
		return errBroken
	}
	return s.follow(s.err, environment.Stderr)
}

// upTo reads lines up to the one that is mark and returns those before it.
func upTo(r *bufio.Reader, mark string, limit int) (string, error) {
	var before strings.Builder
	for whole := true; ; {
		line, err := r.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return "", fmt.Errorf("%w: %w", errBroken, err)
		}
		if whole && string(line) == mark {
			return before.String(), nil
		}
		whole = err == nil
		if before.Len()+len(line) > limit {
			return "", errNoise
		}
		before.Write(line)
	}
}

// follow delivers a stream up to its end mark. The mark begins with bytes that
// text does not have, so that nearly nothing is ever held back for it.
func (s *session) follow(r *bufio.Reader, stream environment.Stream) error {
	mark := []byte("\x00\x00" + s.nonce + "!\n")
	for more := 1; ; {
		if _, err := r.Peek(more); err != nil {
			// What may be the start of a cut mark is not output; if it is, the
			// next session gives it again.
			rest, _ := r.Peek(r.Buffered()) // cannot fail
			s.pass(r, stream, len(rest)-overlap(rest, mark))
			return fmt.Errorf("%w: %w", errBroken, err)
		}
		buffered, _ := r.Peek(r.Buffered()) // cannot fail
		if i := bytes.Index(buffered, mark); i >= 0 {
			s.pass(r, stream, i)
			_, err := r.Discard(len(mark))
			return err
		}
		held := overlap(buffered, mark)
		s.pass(r, stream, len(buffered)-held)
		more = held + 1
	}
}

// pass delivers the next n bytes, which are in the buffer.
func (s *session) pass(r *bufio.Reader, stream environment.Stream, n int) {
	if n == 0 {
		return
	}
	data := make([]byte, n)
	_, _ = io.ReadFull(r, data) // cannot fail
	s.work.deliver(stream, data)
}

// take delivers exactly n bytes more.
func (s *session) take(r *bufio.Reader, stream environment.Stream, n int64) error {
	for n > 0 {
		if _, err := r.Peek(1); err != nil {
			return fmt.Errorf("%w: %w", errBroken, err)
		}
		now := int(min(n, int64(r.Buffered())))
		s.pass(r, stream, now)
		n -= int64(now)
	}
	return nil
}

// overlap is the length of the longest end of data that mark begins with.
func overlap(data, mark []byte) int {
	for n := min(len(data), len(mark)-1); n > 0; n-- {
		if bytes.HasSuffix(data, mark[:n]) {
			return n
		}
	}
	return 0
}
