package supervisor

import (
	_ "embed"
	"fmt"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"berth/drivers/shell"
	"berth/environment"
)

//go:embed sh/lib.sh
var libText string

//go:embed sh/supervisor.sh
var supervisorText string

//go:embed sh/job.sh
var jobText string

//go:embed sh/session.sh
var sessionText string

// text is a script, or a part of one.
type text struct{ strings.Builder }

func (t *text) set(name, value string) { t.WriteString(name + "=" + shell.Quote(value) + "\n") }

// base is what a session needs whatever its run and its work are.
func (t *text) base(nonce, sh string) {
	t.set("nonce", nonce)
	t.set("sh", sh)
	t.set("nl", "\n")
	t.set("lib", uncommented(libText))
	t.set("supervisor", uncommented(supervisorText))
	t.set("entry", uncommented(jobText))
	t.WriteString(uncommented(libText))
	t.WriteString(uncommented(sessionText))
}

// script returns the text that a session's shell runs, behind the base where that
// was sent ahead. It ends with the call of a function, so that one that was cut
// off on its way does nothing.
func (s *session) script() string {
	w := s.work
	var t text
	if !s.ahead {
		t.base(s.nonce, w.shell)
	}
	from := w.offsets()
	t.set("marker", w.exec.Marker)
	t.set("beat", beat())
	t.set("o", strconv.FormatInt(from[environment.Stdout], 10))
	t.set("e", strconv.FormatInt(from[environment.Stderr], 10))
	if s.start {
		t.set("start", "1")
		t.set("dir", w.dir)
		t.set("head", fmt.Sprintf("sh=%s grace=%d limit=%d spool=%d", shell.Quote(w.shell),
			hundredths(w.exec.Grace), hundredths(w.exec.Timeout), w.spool))
		t.WriteString(`job="$entry"` + shell.Quote(w.job()) + "\n")
		writeInput(&t.Builder, w.exec.Stdin)
	} else {
		t.set("start", "")
	}
	t.WriteString("main\n")
	return t.String()
}

// framed is the script as the session's shell reads it.
func (s *session) framed() string {
	script := s.script()
	if line, ok := oneLine(script); ok && s.ahead && len(s.work.exec.Stdin) == 0 {
		return line
	}
	return strconv.Itoa(len(script)) + "\n" + script
}

// maxLine is how much of a script is sent as one line: shells read those byte by
// byte, which soon takes longer than to have another program read it.
const maxLine = 2 << 10

// oneLine makes a line of a script of assignments and a last command, which a shell
// reads without another program; false when it is too long for that, or holds bytes
// that some shells read wrongly.
func oneLine(script string) (string, bool) {
	var b strings.Builder
	quoted, escaped := false, false
	for _, c := range []byte(strings.TrimSuffix(script, "\n")) {
		switch {
		case escaped: // a quote: nothing else is escaped
		case c == '\'':
			quoted = !quoted
		case c < ' ' && c != '\n' && c != '\t', c > '~':
			return "", false
		}
		escaped = c == '\\' && !quoted && !escaped
		switch {
		case c != '\n':
			b.WriteByte(c)
		case quoted:
			b.WriteString(`'"$nl"'`)
		default:
			b.WriteByte(';')
		}
	}
	b.WriteByte('\n')
	return b.String(), b.Len() <= maxLine
}

// job returns the text that becomes the command, behind that of job.sh.
func (w *work) job() string {
	var b strings.Builder
	for _, v := range w.exec.Env {
		assignment := v.Name + "=" + shell.Quote(v.Value.Reveal())
		if special.MatchString(v.Name) {
			fmt.Fprintf(&b, "(export %s) && ", assignment)
		}
		fmt.Fprintf(&b, "export %s\n", assignment)
	}
	fmt.Fprintf(&b, "export BERTH_RUN_ID=%s\n", shell.Quote(w.exec.Marker))
	words := make([]string, len(w.exec.Argv))
	for i, a := range w.exec.Argv {
		words[i] = shell.Quote(a)
	}
	line := strings.Join(words, " ") + " <&5 >&3 2>&4 3>&- 4>&- 5<&-\n"
	if strings.HasPrefix(w.exec.Argv[0], "-") { // some shells would take it for an option of exec, others the dashes for a name
		fmt.Fprintf(&b, "! (exec -- true) 2>/dev/null || exec -- %s", line)
	}
	b.WriteString("exec " + line)
	return b.String()
}

// special are names that some shell keeps for itself and refuses to set, which
// would end it. They are set where they can be.
var special = regexp.MustCompile(`^(UID|EUID|PPID|GROUPS|SHELLOPTS|BASHOPTS|BASH_.*|OPTIND|LINENO|FUNCNAME|RANDOM|SECONDS|_)$`)

// writeInput defines the shell function input, which prints the command's
// standard input: printf formats in pieces, with octal escapes for every byte
// that a shell might not carry.
func writeInput(b *strings.Builder, stdin []byte) {
	if len(stdin) == 0 {
		b.WriteString("has_input=\n")
		return
	}
	const piece = 16 << 10
	b.WriteString("has_input=1\ninput() {\n")
	for len(stdin) > 0 {
		n := min(piece, len(stdin))
		b.WriteString("printf '")
		for _, c := range stdin[:n] {
			if c == '\n' || c >= ' ' && c < 0x7f && !strings.ContainsRune(`'\%-`, rune(c)) {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(b, `\%03o`, c)
			}
		}
		b.WriteString("' || return\n")
		stdin = stdin[n:]
	}
	b.WriteString("}\n")
}

// uncommented drops the lines that are for people, and indentation.
func uncommented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(line, "\t")
		if line != "\n" && !strings.HasPrefix(line, "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func hundredths(d time.Duration) int64 {
	return int64(math.Ceil(d.Seconds() * 100))
}

var marker = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)

// check returns why a command cannot be sent, nil when it can.
func check(e environment.Exec) error {
	if !marker.MatchString(e.Marker) {
		return environment.Invalid("invalid_marker", "The run has no usable id.")
	}
	if len(e.Argv) == 0 || e.Argv[0] == "" {
		return environment.Invalid("command_required", "Enter a command.")
	}
	for _, a := range e.Argv {
		if strings.ContainsRune(a, 0) {
			return environment.Invalid("invalid_command", "A command cannot hold a NUL byte.")
		}
	}
	if strings.ContainsRune(e.Dir, 0) {
		return environment.Invalid("invalid_folder", "A folder cannot hold a NUL byte.")
	}
	for _, v := range e.Env {
		if p := environment.EnvNameProblem(v.Name); p != "" {
			return environment.Invalid("invalid_env", p)
		}
		if strings.ContainsRune(v.Value.Reveal(), 0) {
			return environment.Invalid("invalid_env", "A value cannot hold a NUL byte.")
		}
	}
	return nil
}

// folder is where the command runs; "." where nothing was asked for.
func folder(ref environment.Ref, e environment.Exec) string {
	switch {
	case path.IsAbs(e.Dir):
		return e.Dir
	case ref.Dir == "" && e.Dir == "":
		return "."
	}
	return path.Join(ref.Dir, e.Dir)
}
