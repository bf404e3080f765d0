package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"berth/environment"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// show prints an answer: as JSON when asked for, else as people prints it.
func (a *app) show(answer any, people func(io.Writer)) error {
	if a.flags.json {
		return a.printJSON(answer)
	}
	people(a.env.Out)
	return nil
}

func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.env.Out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// say tells people something beside the answer, on standard error.
func (a *app) say(format string, args ...any) { writef(a.env.Err, format+"\n", args...) }

// writef writes to a terminal or a pipe. A reader that went away is no reason
// to fail: what matters of a command is its exit code.
func writef(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, format, args...)
}

// report shows an error: with --json as the one JSON object on standard output,
// else on standard error, a line for each field that is wrong.
func (a *app) report(cmd *cobra.Command, err error) {
	if e, ok := errors.AsType[*exitError](err); ok && e.cause == nil {
		return
	}
	problem := describe(err)
	if a.wantsJSON() {
		if err := a.printJSON(problem); err != nil {
			a.say("berth: %v", err)
		}
		return
	}
	a.say("berth: %s", problem.Error)
	for _, f := range problem.fields() {
		a.say("  %s: %s", flagOf(cmd, f.Field), f.Message)
	}
	if problem.Remediation != "" {
		a.say("  %s", problem.Remediation)
	}
	if _, ok := errors.AsType[*usageError](err); ok && cmd != nil {
		a.say("See %q.", cmd.CommandPath()+" --help")
	}
}

// wantsJSON also knows it when the flags could not be parsed.
func (a *app) wantsJSON() bool {
	if a.flags.json {
		return true
	}
	for _, arg := range a.env.Args {
		switch arg {
		case "--":
			return false
		case "--json", "--json=true":
			return true
		}
	}
	return false
}

// describe is an error as the API would put it.
func describe(err error) problem {
	if e, ok := errors.AsType[*apiError](err); ok {
		return problem(e.Body)
	}
	if e, ok := errors.AsType[*usageError](err); ok {
		return newProblem("usage", e.message)
	}
	if e, ok := errors.AsType[*environment.Error](err); ok {
		p := newProblem(e.Code, e.Message)
		p.Remediation = e.Remediation
		return p
	}
	return newProblem("failed", err.Error())
}

// colour reports whether people see colours: on a terminal, unless NO_COLOR.
func (a *app) colour(w io.Writer) bool {
	if a.getenv("NO_COLOR", "") != "" || a.getenv("TERM", "") == "dumb" {
		return false
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	blue   = "\x1b[34m"
	grey   = "\x1b[90m"
	plain  = "\x1b[0m"
)

// paint colours a state word by what it means.
func (a *app) paint(word string) string {
	if !a.colour(a.env.Out) {
		return word
	}
	return tint(word) + word + plain
}

func tint(word string) string {
	switch word {
	case "ready", "ok", "succeeded", "active", "released", "✓":
		return green
	case "warning", "changed", "interrupted", "cancelled", "optional", "!", "expired", "pending_cleanup":
		return yellow
	case "unfit", "unreachable", "untrusted", "failed", "timed_out", "lost", "missing", "✗":
		return red
	case "testing", "running", "queued", "acquiring", "preparing", "cancelling", "releasing", "…":
		return blue
	}
	return grey
}

// table aligns columns by what is seen: colours take no width.
type table struct {
	w    io.Writer
	rows [][]string
}

func newTable(w io.Writer, header ...string) *table { return &table{w: w, rows: [][]string{header}} }

func (t *table) row(cells ...string) {
	for i := range cells {
		cells[i] = oneLine(cells[i])
	}
	t.rows = append(t.rows, cells)
}

func (t *table) flush() {
	widths := make([]int, len(t.rows[0]))
	for _, r := range t.rows {
		for i, c := range r {
			widths[i] = max(widths[i], seen(c))
		}
	}
	for _, r := range t.rows {
		var b strings.Builder
		for i, c := range r {
			b.WriteString(c)
			if i < len(r)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-seen(c)+2))
			}
		}
		writef(t.w, "%s\n", strings.TrimRight(b.String(), " "))
	}
}

// seen is how many columns a cell takes.
func seen(cell string) int {
	n, escape := 0, false
	for _, r := range cell {
		switch {
		case escape:
			escape = r != 'm'
		case r == '\x1b':
			escape = true
		default:
			n++
		}
	}
	return n
}

// oneLine keeps a cell from breaking the table, and text of a target from
// steering the terminal; the colours of paint stay.
func oneLine(cell string) string {
	body, colour, tail := cell, "", ""
	for _, c := range []string{red, green, yellow, blue, grey} {
		if rest, ok := strings.CutPrefix(cell, c); ok {
			body, colour, tail = strings.TrimSuffix(rest, plain), c, plain
			break
		}
	}
	return colour + printable(body) + tail
}

// printable replaces what would steer a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r == utf8.RuneError || unicode.IsControl(r):
			return '\uFFFD'
		}
		return r
	}, text)
}
