package supervisor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/drivers/shell"
	"berth/environment"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// target is a home folder of this machine with a shell and tools of its own.
type target struct {
	home string
	open shell.Opener
	options
}

// newTarget returns a target on which every shell is sh, and the tools are those
// of bin: a folder for PATH.
func newTarget(t *testing.T, sh, bin string) *target {
	t.Helper()
	home := t.TempDir()
	login := filepath.Join(home, "login")
	script := "#!/bin/sh\nexec " + sh + " -c 'IFS= read -r n && eval \"$(head -c \"$n\")\"'\n"
	if err := os.WriteFile(login, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return &target{home: home, options: options{shell: sh, spool: maxSpool, backoff: firstBackoff},
		open: shell.Process(login, []string{"PATH=" + bin, "HOME=" + home, "TMPDIR=" + home})}
}

// systemTarget is a target with the machine's own shell and tools.
func systemTarget(t *testing.T) *target {
	return newTarget(t, "/bin/sh", "/usr/bin:/bin")
}

// linked makes a folder of links to the given programs.
func linked(t *testing.T, links map[string]string) string {
	t.Helper()
	bin := t.TempDir()
	for name, program := range links {
		if err := os.Symlink(program, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// tools are the programs that a target must have, without setsid.
func tools() []string {
	return []string{"cat", "env", "false", "find", "grep", "head", "id", "mkdir", "mkfifo", "mv", "printenv", "printf", "rm", "rmdir",
		"seq", "sleep", "tail", "true", "uname", "wc"}
}

func busybox(t *testing.T) string {
	links := map[string]string{"sh": "/bin/busybox", "setsid": "/bin/busybox"}
	for _, name := range tools() {
		links[name] = "/bin/busybox"
	}
	return linked(t, links)
}

func withoutSetsid(t *testing.T) string {
	links := map[string]string{}
	for _, name := range tools() {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		links[name] = program
	}
	links["sh"] = "/bin/bash"
	return linked(t, links)
}

// log collects what a run printed.
type log struct {
	mu      sync.Mutex
	streams map[environment.Stream]*bytes.Buffer
	doubled string
	seen    func(all string) // called with all of stdout after each piece of it
}

func newLog() *log {
	return &log{streams: map[environment.Stream]*bytes.Buffer{environment.Stdout: new(bytes.Buffer), environment.Stderr: new(bytes.Buffer)}}
}

func (l *log) output(stream environment.Stream, offset int64, data []byte) error {
	l.mu.Lock()
	b := l.streams[stream]
	if offset != int64(b.Len()) {
		l.doubled = fmt.Sprintf("%s came at offset %d, want %d", stream, offset, b.Len())
	}
	b.Write(data)
	all := l.streams[environment.Stdout].String()
	l.mu.Unlock()
	if l.seen != nil && stream == environment.Stdout {
		l.seen(all)
	}
	return nil
}

func (l *log) text(stream environment.Stream) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.streams[stream].String()
}

func (l *log) received() map[environment.Stream]int64 {
	return map[environment.Stream]int64{environment.Stdout: int64(len(l.text(environment.Stdout))),
		environment.Stderr: int64(len(l.text(environment.Stderr)))}
}

// once returns a function that closes a channel when stdout holds word, and the
// channel.
func once(word string) (func(string), chan struct{}) {
	reached := make(chan struct{})
	closing := sync.OnceFunc(func() { close(reached) })
	return func(all string) {
		if strings.Contains(all, word) {
			closing()
		}
	}, reached
}

// run runs a command to its end; what e leaves out is filled in.
func (x *target) run(ctx context.Context, e environment.Exec, l *log) (environment.ExecResult, error) {
	if e.Marker == "" {
		e.Marker = environment.NewID().String()
	}
	if e.Grace == 0 {
		e.Grace = 20 * time.Second
	}
	if e.Output == nil {
		e.Output = l.output
	}
	return run(ctx, x.open, environment.Ref{Dir: x.home}, e, x.options)
}

func (x *target) folders(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(x.home, ".berth/runs/*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// clean checks that nothing of a run is left: no folder, and no process with the
// text on its command line.
func (x *target) clean(t *testing.T, text string) {
	t.Helper()
	if left := x.folders(t); len(left) > 0 {
		t.Errorf("run folders left: %v", left)
	}
	eventually(t, 3*time.Second, func() string { // the last sleep of a watch may take a moment to die
		return strings.Join(processes(text), "\n")
	})
}

// processes lists what has a text on its command line or works for this home.
func processes(text string) []string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is good
	var found []string
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && bytes.Contains(line, []byte(text)) {
			found = append(found, file+": "+string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// eventually waits until check returns "", and fails with what it said last.
func eventually(t *testing.T, limit time.Duration, check func() string) {
	t.Helper()
	deadline := time.After(limit)
	for {
		problem := check()
		if problem == "" {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("after %s: %s", limit, problem)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func codeOf(err error) string {
	if e, ok := errors.AsType[*environment.Error](err); ok {
		return e.Code
	}
	return ""
}
