package shell

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"berth/environment"
)

// MaxAnswer is how much of an answer is read, and of the noise before it.
const MaxAnswer = 1 << 20

var errTooLong = errors.New("the answer is too long")

// Ask runs a script on the target and returns what it printed on its standard
// output. What the account's start-up files print, on either stream, is not part
// of it. The script's exit code does not matter; one that wants to report it
// prints it.
//
// Errors of open come back as they are. When the shell ends or says too much
// without an answer the error has code shell_unusable; when ctx ends first it
// wraps its cause.
func Ask(ctx context.Context, open Opener, script string) ([]byte, error) {
	s, err := open(ctx)
	if err != nil {
		return nil, err
	}
	var owned sync.WaitGroup
	defer owned.Wait()
	closing := sync.OnceFunc(func() { _ = s.Close() }) // its error says no more than that the session ended
	defer closing()
	defer context.AfterFunc(ctx, closing)()

	var mark [16]byte
	_, _ = rand.Read(mark[:]) // never fails
	begin, end := "\n"+hex.EncodeToString(mark[:8])+"<", hex.EncodeToString(mark[8:])+">\n"
	text := fmt.Sprintf("printf '%%s' '%s'\n(%s\n)\nprintf '%%s' '%s'\n", begin, script, end)
	owned.Go(func() {
		// A shell that is gone before it has read the script is noticed below.
		_, _ = io.WriteString(s, strconv.Itoa(len(text))+"\n"+text)
		_ = s.CloseWrite()
	})
	owned.Go(func() { _, _ = io.Copy(io.Discard, s.Stderr()) }) // noise

	out := bufio.NewReader(s.Stdout())
	_, err = readUntil(out, begin)
	var answer []byte
	if err == nil {
		answer, err = readUntil(out, end)
	}
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("ask the target's shell: %w", context.Cause(ctx))
	case err != nil:
		return nil, unusable(s, err)
	}
	return answer, nil
}

// unusable is the error of a session that gave no answer.
func unusable(s Session, err error) error {
	if errors.Is(err, io.EOF) {
		if ended := s.Wait(); ended != nil {
			err = ended
		}
	}
	return environment.Unavailable(environment.CodeShellUnusable, "The account's shell gave no answer.").
		Remedy(environment.Remedy(environment.CodeShellUnusable)).Because(err)
}

// readUntil returns what comes before mark.
func readUntil(r *bufio.Reader, mark string) ([]byte, error) {
	var read []byte
	last := mark[len(mark)-1]
	for {
		part, err := r.ReadSlice(last)
		if len(read)+len(part) > MaxAnswer+len(mark) {
			return nil, errTooLong
		}
		read = append(read, part...)
		if bytes.HasSuffix(read, []byte(mark)) {
			return read[:len(read)-len(mark)], nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// Quote makes one word of a POSIX shell of any text without a NUL byte.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
