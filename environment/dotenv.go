package environment

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxDotEnv is the largest .env text that is read, in bytes.
const MaxDotEnv = 256 << 10

// DotEnvVar is one assignment of a .env text, in the order of the text. Problem
// says why it cannot be a variable as it is; "" when it can.
type DotEnvVar struct {
	Line    int // where it begins, from 1
	Name    string
	Value   Secret
	Problem string
}

// DotEnvProblem is what is wrong at a line of a .env text.
type DotEnvProblem struct {
	Line    int
	Message string
}

// ParseDotEnv reads the text of a .env file: NAME=value, an optional export
// before it, # comments, 'single quotes' without escapes, "double quotes" with
// \n, \r, \t, \", \\ and \$ that may go on over several lines; a comment after a
// value begins with white space and #. Values are taken as they are: nothing in
// them is put in place of $NAME. What cannot be read as an assignment is among
// the problems only; one that can, with a name that cannot be used, is set twice
// or has a value that cannot be stored, is in both.
func ParseDotEnv(text string) ([]DotEnvVar, []DotEnvProblem) {
	switch {
	case len(text) > MaxDotEnv:
		return nil, []DotEnvProblem{{1, fmt.Sprintf("The text has more than %d KiB.", MaxDotEnv>>10)}}
	case !utf8.ValidString(text):
		return nil, []DotEnvProblem{{1, "The text is not UTF-8."}}
	}
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	p := dotEnvParser{lines: strings.Split(text, "\n"), first: map[string]int{}}
	for p.at < len(p.lines) {
		p.line()
	}
	return p.vars, p.problems
}

// dotEnvParser walks over the lines of a text.
type dotEnvParser struct {
	lines    []string
	at       int            // the line to read next, from 0
	first    map[string]int // where a name was set first
	vars     []DotEnvVar
	problems []DotEnvProblem
}

func (p *dotEnvParser) wrong(line int, message string) {
	p.problems = append(p.problems, DotEnvProblem{line, message})
}

// line reads one assignment, which may be of several lines.
func (p *dotEnvParser) line() {
	number := p.at + 1
	text := strings.TrimSpace(p.lines[p.at])
	p.at++
	if text == "" || text[0] == '#' {
		return
	}
	if rest, found := strings.CutPrefix(text, "export"); found && rest != "" && (rest[0] == ' ' || rest[0] == '\t') {
		text = strings.TrimSpace(rest)
	}
	name, rest, found := strings.Cut(text, "=")
	if !found {
		p.wrong(number, "This line is not NAME=value.")
		return
	}
	value, problem := p.value(strings.TrimLeft(rest, " \t"))
	if problem != "" {
		p.wrong(number, problem)
		return
	}
	p.add(DotEnvVar{Line: number, Name: strings.TrimSpace(name), Value: NewSecret(value)})
}

// add keeps a variable and notes what is wrong with it.
func (p *dotEnvParser) add(v DotEnvVar) {
	line, twice := p.first[v.Name]
	switch {
	case len(p.vars) > MaxEnvVars:
		return
	case len(p.vars) == MaxEnvVars:
		v.Problem = fmt.Sprintf("An environment has at most %d variables; the rest of the text is left out.", MaxEnvVars)
	case EnvNameProblem(v.Name) != "":
		v.Problem = EnvNameProblem(v.Name)
	case EnvValueProblem(v.Value.Reveal()) != "":
		v.Problem = EnvValueProblem(v.Value.Reveal())
	case twice:
		v.Problem = fmt.Sprintf("It is set on line %d already.", line)
	default:
		p.first[v.Name] = v.Line
	}
	p.vars = append(p.vars, v)
	if v.Problem != "" {
		p.wrong(v.Line, dotEnvName(v.Name)+v.Problem)
	}
}

// dotEnvName is a name in front of a message: never so long that it hides it.
func dotEnvName(name string) string {
	if name == "" {
		return ""
	}
	if runes := []rune(name); len(runes) > 40 {
		name = string(runes[:40]) + "…"
	}
	return name + ": "
}

// value reads what stands after the "=". problem says why it cannot be read.
func (p *dotEnvParser) value(rest string) (value, problem string) {
	if rest == "" || rest[0] == '#' && len(rest) > 1 && (rest[1] == ' ' || rest[1] == '\t') {
		return "", ""
	}
	switch rest[0] {
	case '"':
		return p.doubleQuoted(rest[1:])
	case '\'', '`':
		inner, after, closed := strings.Cut(rest[1:], rest[:1])
		if !closed {
			return "", "The closing quote is missing."
		}
		return inner, afterQuote(after)
	}
	return unquoted(rest), ""
}

// unquoted ends at a # that white space is before.
func unquoted(rest string) string {
	for i := 1; i < len(rest); i++ {
		if rest[i] == '#' && (rest[i-1] == ' ' || rest[i-1] == '\t') {
			rest = rest[:i]
			break
		}
	}
	return strings.TrimRight(rest, " \t")
}

// doubleQuoted reads up to the closing quote, over as many lines as it takes.
// When there is none, only the first line is given up.
func (p *dotEnvParser) doubleQuoted(rest string) (value, problem string) {
	var b strings.Builder
	for next := p.at; ; next++ {
		for i := 0; i < len(rest); i++ {
			switch c := rest[i]; {
			case c == '"':
				p.at = next
				return b.String(), afterQuote(rest[i+1:])
			case c == '\\' && i+1 < len(rest):
				i++
				b.WriteString(unescaped(rest[i]))
			default:
				b.WriteByte(c)
			}
		}
		if next >= len(p.lines) || b.Len() > MaxEnvValue {
			return "", "The closing quote is missing."
		}
		b.WriteByte('\n')
		rest = p.lines[next]
	}
}

// unescaped is what a backslash and a character stand for; both, when they stand
// for nothing else.
func unescaped(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case 't':
		return "\t"
	case '"', '\\', '$':
		return string(c)
	}
	return `\` + string([]byte{c})
}

func afterQuote(after string) string {
	if after = strings.TrimSpace(after); after != "" && after[0] != '#' {
		return "There is text after the closing quote."
	}
	return ""
}
