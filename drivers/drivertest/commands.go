package drivertest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/environment"
)

func runCommands(t *testing.T, x *target) {
	t.Run("C31 exit codes are exact", x.exitCodes)
	t.Run("C70 values and arguments arrive byte for byte", x.bytesArrive)
	t.Run("C69 no value is on a command line", x.noValueOnCommandLine)
	t.Run("standard input arrives byte for byte", x.stdin)
	t.Run("nothing of the server's environment arrives", x.cleanEnvironment)
	t.Run("it runs in the folder that was asked for", x.folder)
	t.Run("a missing folder is said", x.missingFolder)
	t.Run("both streams are kept apart", x.streams)
	t.Run("C87 a stop ends every descendant", x.stopEnds)
	t.Run("C87 a timeout ends every descendant", x.timeoutEnds)
	t.Run("a cancellation ends the work", x.cancelEnds)
	t.Run("an end leaves no daemon", x.noDaemonStays)
	t.Run("detached work is taken up with no byte lost", x.detachAndResume)
	t.Run("the result is settled before it is forgotten", x.settles)
	t.Run("output that is not taken lets go", x.outputLetsGo)
	t.Run("nothing to take up is not_found", x.nothingToResume)
	t.Run("starting twice is one start", x.startTwice)
}

func (x *target) exitCodes(t *testing.T) {
	tests := []struct {
		name, script, signal string
		code                 int
	}{
		{"zero", "exit 0", "", 0},
		{"three", "exit 3", "", 3},
		{"255 is not unreachable", "echo out; exit 255", "", 255},
		{"TERM", "kill -TERM $$", "TERM", 143},
		{"KILL", "kill -9 $$", "KILL", 137},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := x.run(t, environment.Exec{Argv: []string{"sh", "-c", tt.script}})
			if o.err != nil || o.result.ExitCode != tt.code || o.result.Signal != tt.signal || o.result.Ended != "exit" {
				t.Errorf("%q: got %+v, want exit %d, signal %q", tt.script, o, tt.code, tt.signal)
			}
			if strings.HasPrefix(tt.script, "echo out") && o.out != "out\n" {
				t.Errorf("%q: got output %q, want out", tt.script, o.out)
			}
		})
	}
	for name, code := range map[string]int{"no-such-command-xyz": 127, "/etc": 126, "/etc/passwd": 126} {
		o := x.run(t, environment.Exec{Argv: []string{name}})
		if o.err != nil || o.result.ExitCode != code {
			t.Errorf("%s: got %+v, want exit %d", name, o, code)
		}
	}
}

// awkward are texts that some shell on the way could expand, run or drop.
func awkward() []string {
	var all []byte
	for b := 1; b < 256; b++ {
		all = append(all, byte(b))
	}
	return []string{"a; touch /tmp/berth-pwn", "$(touch /tmp/berth-pwn)", "`touch /tmp/berth-pwn`", `it's "x"`, "two\nlines\n", `\`, `\0\n%s`,
		"", "é", " leading and trailing ", "-n", "--", "*", "~", "$HOME", "!!", string(all), strings.Repeat("long'", 10_000)}
}

func (x *target) bytesArrive(t *testing.T) {
	want := strings.Join(awkward(), "\x00") + "\x00"
	o := x.run(t, environment.Exec{Argv: append([]string{"printf", `%s\0`}, awkward()...)})
	if o.err != nil || o.out != want {
		t.Errorf("arguments: %v %+v, got %q, want %q", o.err, o.result, o.out, want)
	}
	var values []environment.EnvValue
	var script strings.Builder
	for i, text := range awkward() {
		name := "GOOD_" + string(rune('A'+i))
		values = append(values, environment.EnvValue{Name: name, Value: environment.NewSecret(text)})
		script.WriteString(`printf '%s\0' "$` + name + "\"\n")
	}
	o = x.run(t, environment.Exec{Argv: []string{"sh", "-c", script.String()}, Env: values})
	if o.err != nil || o.out != want {
		t.Errorf("values: %v %+v, got %q, want %q", o.err, o.result, o.out, want)
	}
	if got := x.sh(t, "ls /tmp/berth-pwn 2>/dev/null; true"); got != "" {
		t.Error("a value was executed")
	}
}

func (x *target) noValueOnCommandLine(t *testing.T) {
	stop := make(chan struct{})
	found := make(chan string, 1)
	go func() {
		for {
			if at := cmdlineWith("canary-argv-" + "value"); at != "" {
				found <- at
				return
			}
			select {
			case <-stop:
				found <- ""
				return
			default:
			}
		}
	}()
	o := x.run(t, environment.Exec{Argv: []string{"sh", "-c", `printf '%s\n' "$API_TOKEN"; sleep 1`},
		Env: []environment.EnvValue{{Name: "API_TOKEN", Value: environment.NewSecret("canary-argv-value")}}})
	close(stop)
	if at := <-found; at != "" {
		t.Errorf("the value is on the command line of %s", at)
	}
	if o.err != nil || o.out != "canary-argv-value\n" {
		t.Errorf("the command itself got %q, %v", o.out, o.err)
	}
}

// cmdlineWith returns the first process of this machine whose command line holds
// a text.
func cmdlineWith(text string) string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is good
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && bytes.Contains(line, []byte(text)) {
			return file + ": " + string(line)
		}
	}
	return ""
}

func (x *target) stdin(t *testing.T) {
	var all []byte
	for i := range environment.MaxStdin {
		all = append(all, byte(i*7+i/256))
	}
	for name, in := range map[string][]byte{"text": []byte("a 'b' \\n %s\nc"), "none": nil, "every byte, at the limit": all} {
		o := x.run(t, environment.Exec{Argv: []string{"cat"}, Stdin: in})
		if o.err != nil || o.out != string(in) {
			t.Errorf("%s: %v, got %d bytes back, want %d", name, o.err, len(o.out), len(in))
		}
	}
}

func (x *target) cleanEnvironment(t *testing.T) {
	got := x.sh(t, "env; cat /proc/self/environ | tr '\\0' '\\n'")
	if strings.Contains(got, canary) {
		t.Errorf("the server's variable arrived:\n%s", got)
	}
	for _, name := range []string{"PATH", "HOME"} {
		if !strings.Contains("\n"+got, "\n"+name+"=") {
			t.Errorf("no %s in\n%s", name, got)
		}
	}
	if strings.Contains(got, "BERTH_KEEPER") {
		t.Error("the supervisor's own mark reached the command")
	}
}

func (x *target) folder(t *testing.T) {
	x.sh(t, "mkdir -p 'sub folder'")
	for asked, want := range map[string]string{"": x.ref.Dir, "sub folder": x.ref.Dir + "/sub folder", "/": "/"} {
		var told string
		c := newCapture(t)
		o := x.runWith(t.Context(), t, environment.Exec{Argv: []string{"pwd"}, Dir: asked,
			OnStart: func(p environment.Process, h environment.HostFacts, dir string) error {
				told = dir
				if p.Pid == 0 || p.Pgid == 0 || p.StartTime == "" || p.BootID == "" || p.Marker == "" || p.Dir == "" || h != x.ref.Host {
					t.Errorf("the identity says too little: %+v on %+v", p, h)
				}
				return nil
			}}, c)
		if o.err != nil || o.out != want+"\n" || told != want {
			t.Errorf("folder %q: %v, ran in %q, told %q, want %q", asked, o.err, o.out, told, want)
		}
	}
}

func (x *target) missingFolder(t *testing.T) {
	o := x.run(t, environment.Exec{Argv: []string{"pwd"}, Dir: "no/such/folder"})
	if codeOf(o.err) != environment.CodeWorkspaceMissing {
		t.Errorf("got %v, want code %s", o.err, environment.CodeWorkspaceMissing)
	}
}

func (x *target) streams(t *testing.T) {
	// Opening /dev/stderr again must not cut what is there.
	o := x.run(t, environment.Exec{Argv: []string{"sh", "-c",
		"echo one; echo two >&2; echo three > /dev/stderr; echo four > /dev/stdout; printf 'a\\000\\000b\\377c'"}})
	if o.err != nil || o.out != "one\nfour\na\x00\x00b\xffc" || o.errOut != "two\nthree\n" {
		t.Errorf("got %v, stdout %q, stderr %q", o.err, o.out, o.errOut)
	}
	const lines = 200_000
	began := time.Now()
	o = x.run(t, environment.Exec{Argv: []string{"sh", "-c", "seq 1 200000 & seq 1 200000 >&2; wait"}})
	t.Logf("%d bytes in %s", len(o.out)+len(o.errOut), time.Since(began))
	if o.err != nil || o.out != o.errOut || strings.Count(o.out, "\n") != lines || !strings.HasSuffix(o.out, "\n200000\n") {
		t.Errorf("long output: %v, %d and %d bytes", o.err, len(o.out), len(o.errOut))
	}
}
