package ssh

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"berth/drivers/shell"
	"berth/environment"
)

// maxNoise is how much a target may print beside its answers.
const maxNoise = 1 << 20

// answer is one line of a script.
type answer struct {
	key, value string
	at         time.Time
}

// newMark is what the lines of one script begin with. It cannot be guessed, so
// nothing else prints it.
func newMark() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // it never fails
	return "berth-" + hex.EncodeToString(b[:])
}

// ask runs a script in a session and calls each for each of its answers. It
// returns after "end", or after the script ended without: errors are failures
// of the shell stage.
func (d *Driver) ask(ctx context.Context, s shell.Session, ep endpoint, sc script, each func(answer)) error {
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	late := time.AfterFunc(d.limits.Shell, func() { _ = s.Close() })
	defer late.Stop()
	complaint := make(chan string, 1)
	go func() { // ends with the session
		text, _ := io.ReadAll(io.LimitReader(s.Stderr(), 4<<10))
		complaint <- string(text)
		_, _ = io.Copy(io.Discard, s.Stderr())
	}()
	text := sc.String()
	if _, err := fmt.Fprintf(s, "%d\n%s", len(text), text); err == nil {
		_ = s.CloseWrite() // a broken session shows when it is read
	}
	began, ended, noise := false, false, ""
	err := lines(s.Stdout(), func(line string) bool {
		_, rest, found := strings.Cut(line, sc.mark+" ")
		if !found {
			if len(noise) < 1024 {
				noise += line + "\n"
			}
			return true
		}
		key, value, _ := strings.Cut(rest, "=")
		if key == "begin" {
			began = true
			late.Stop()
		}
		ended = ended || key == "end"
		each(answer{key: key, value: printable(value), at: d.now()})
		return !ended
	})
	if ended {
		return nil
	}
	waited := s.Wait()
	exit, exited := errors.AsType[*shell.ExitError](waited)
	if waited == nil {
		exit, exited = &shell.ExitError{}, true
	}
	switch {
	case began && exited:
		return nil // it said all that it had to
	case ctx.Err() != nil:
		return timedOut("shell", ep, 0, context.Cause(ctx))
	case began || (!exited && late.Stop()):
		return fail("shell", environment.CodeConnectionLost, fmt.Sprintf("The connection to %s broke while its shell answered.", ep), errors.Join(err, waited))
	}
	_ = s.Close()
	return d.unusable(ep, exit, noise, <-complaint, waited)
}

// unusable is a shell that gave no answer.
func (d *Driver) unusable(ep endpoint, exit *shell.ExitError, stdout, stderr string, cause error) *failure {
	said := excerpt(stderr + " " + stdout)
	text := fmt.Sprintf("The login shell of %q on %s does not run /bin/sh (SSH session)", ep.user, ep)
	if exit != nil {
		text += fmt.Sprintf(": it ended with exit code %d", exit.Code)
	} else if cause != nil {
		text += fmt.Sprintf(": no answer within %s", d.limits.Shell)
	}
	if said != "" {
		text += fmt.Sprintf(", and said %q", said)
	}
	f := fail("shell", environment.CodeShellUnusable, text+".", cause).within("seconds", d.limits.Shell.Seconds())
	if exit != nil {
		f.measured["exitCode"] = exit.Code
	}
	if said != "" {
		f.measured["said"] = said
	}
	return f
}

// lines calls each for each line, the last one also without its line end, until
// each returns false. A line is at most 64 KiB; maxNoise bounds them all.
func lines(r io.Reader, each func(string) bool) error {
	scanner := bufio.NewScanner(io.LimitReader(r, maxNoise))
	scanner.Buffer(make([]byte, 0, 4096), 64<<10)
	for scanner.Scan() {
		if !each(scanner.Text()) {
			return nil
		}
	}
	return scanner.Err()
}

// printable is an answer fit to be stored: no control characters, valid text,
// not endless.
func printable(text string) string {
	const most = 4096
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "�"))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}
