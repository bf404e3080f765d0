package environment_test

import (
	"fmt"
	"strings"
	"testing"

	"berth/environment"
)

// spelled writes variables and problems as one text each, to compare.
func spelled(text string) (vars, problems string) {
	var v, p []string
	found, wrong := environment.ParseDotEnv(text)
	for _, f := range found {
		line := fmt.Sprintf("%d %s=%q", f.Line, f.Name, f.Value.Reveal())
		if f.Problem != "" {
			line += " !"
		}
		v = append(v, line)
	}
	for _, w := range wrong {
		p = append(p, fmt.Sprintf("%d %s", w.Line, w.Message))
	}
	return strings.Join(v, "|"), strings.Join(p, "|")
}

func TestParseDotEnv(t *testing.T) {
	for name, tc := range map[string]struct{ text, vars, problems string }{
		"nothing":                {"", "", ""},
		"blank lines, comments":  {"\n  \n# A=1\n   # B=2\n", "", ""},
		"plain":                  {"A=1\nB = two words \n", `1 A="1"|2 B="two words"`, ""},
		"empty":                  {"A=\nB=\"\"\nC=''\n", `1 A=""|2 B=""|3 C=""`, ""},
		"export":                 {"export A=1\nexport\tB=2\nexported=3", `1 A="1"|2 B="2"|3 exported="3"`, ""},
		"equals in a value":      {"URL=a=b==c", `1 URL="a=b==c"`, ""},
		"single quotes":          {`A='a "b" \n $C # d'`, `1 A="a \"b\" \\n $C # d"`, ""},
		"backquotes":             {"A=`it's`", `1 A="it's"`, ""},
		"double quotes":          {`A="a\tb\nc \"d\" \\ \$E \x"`, `1 A="a\tb\nc \"d\" \\ $E \\x"`, ""},
		"no expansion":           {"A=$HOME/x\nB=\"${HOME}\"\nC=$(id)", `1 A="$HOME/x"|2 B="${HOME}"|3 C="$(id)"`, ""},
		"several lines":          {"KEY=\"-----BEGIN\nabc\n-----END\"\nB=1", `1 KEY="-----BEGIN\nabc\n-----END"|4 B="1"`, ""},
		"comment after a value":  {"A=1 # one\nB=a#b\nC=\"x\" # y\nD='x'# y\nE= # none", `1 A="1"|2 B="a#b"|3 C="x"|4 D="x"|5 E=""`, ""},
		"a hash as a value":      {"A=#fff\nB=#", `1 A="#fff"|2 B="#"`, ""},
		"CRLF":                   {"A=1\r\nB=\"x\r\ny\"\r\n", `1 A="1"|2 B="x\ny"`, ""},
		"old line breaks":        {"A=1\rB=2", `1 A="1"|2 B="2"`, ""},
		"byte order mark":        {"\ufeffA=1", `1 A="1"`, ""},
		"other scripts":          {"A=grüße 🚢", `1 A="grüße 🚢"`, ""},
		"no equals":              {"A=1\nnonsense\nB=2", `1 A="1"|3 B="2"`, "2 This line is not NAME=value."},
		"set twice":              {"A=1\nB=2\nA=3", `1 A="1"|2 B="2"|3 A="3" !`, "3 A: It is set on line 1 already."},
		"reserved":               {"BERTH_RUN_ID=1", `1 BERTH_RUN_ID="1" !`, "1 BERTH_RUN_ID: Names that begin with BERTH_ are set by Berth itself."},
		"bad name":               {"1X=1", `1 1X="1" !`, "1 1X: A variable's name has letters, digits and _ only and does not begin with a digit."},
		"no name":                {"=1", `1 ="1" !`, "1 Enter a name."},
		"NUL":                    {"A=a\x00b", `1 A="a\x00b" !`, "1 A: A value cannot hold a NUL byte."},
		"quote left open":        {"A='x\nB=2", `2 B="2"`, "1 The closing quote is missing."},
		"double quote left open": {"A=\"x\nB=2\n", `2 B="2"`, "1 The closing quote is missing."},
		"text after a quote":     {`A="x"y`, "", "1 There is text after the closing quote."},
		"not UTF-8":              {"A=\xff", "", "1 The text is not UTF-8."},
		"too long":               {"A=" + strings.Repeat("x", environment.MaxDotEnv), "", "1 The text has more than 256 KiB."},
	} {
		t.Run(name, func(t *testing.T) {
			vars, problems := spelled(tc.text)
			if vars != tc.vars {
				t.Errorf("variables %s\nwant      %s", vars, tc.vars)
			}
			if problems != tc.problems {
				t.Errorf("problems %s\nwant     %s", problems, tc.problems)
			}
		})
	}
}

func TestParseDotEnv_Limits(t *testing.T) {
	var b strings.Builder
	for n := range environment.MaxEnvVars {
		fmt.Fprintf(&b, "V%d=x\n", n)
	}
	if vars, problems := environment.ParseDotEnv(b.String()); len(vars) != environment.MaxEnvVars || len(problems) != 0 {
		t.Errorf("at the limit: %d variables, %v", len(vars), problems)
	}
	vars, problems := environment.ParseDotEnv(b.String() + "MORE=1\nAND=2\n")
	if len(vars) != environment.MaxEnvVars+1 || len(problems) != 1 || problems[0].Line != environment.MaxEnvVars+1 {
		t.Errorf("past the limit: %d variables, %v", len(vars), problems)
	}
	long := "A=" + strings.Repeat("x", environment.MaxEnvValue)
	if _, problems := environment.ParseDotEnv(long); len(problems) != 0 {
		t.Errorf("a value at the limit: %v", problems)
	}
	if vars, problems := environment.ParseDotEnv(long + "x"); len(problems) != 1 || vars[0].Problem == "" {
		t.Errorf("a value past the limit: %v", problems)
	}
}

// FuzzParseDotEnv holds that whatever is read can be a variable or says why not,
// and that lines are in order.
func FuzzParseDotEnv(f *testing.F) {
	for _, seed := range []string{"A=1\n", "export A='x'\nB=\"y\nz\" # c\n", "\ufeffA=1\r\nA=2", "=", "A=\"\\", "A=`\n`", "#\n=\"\"\"", "A=\"x\n\n\n", "BERTH_X=1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		vars, problems := environment.ParseDotEnv(text)
		seen, last := map[string]bool{}, 0
		for _, v := range vars {
			if v.Line < last || v.Line > len(text)+1 {
				t.Fatalf("line %d comes after %d", v.Line, last)
			}
			last = v.Line
			if v.Problem != "" {
				continue
			}
			if seen[v.Name] || environment.EnvNameProblem(v.Name) != "" || environment.EnvValueProblem(v.Value.Reveal()) != "" {
				t.Fatalf("%q is taken", v.Name)
			}
			seen[v.Name] = true
		}
		for _, p := range problems {
			if p.Line < 1 || p.Message == "" {
				t.Fatalf("problem %+v", p)
			}
		}
	})
}
