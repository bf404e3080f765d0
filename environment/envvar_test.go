package environment_test

import (
	"strings"
	"testing"

	"berth/environment"
)

func TestC70_VariableNames(t *testing.T) {
	for name, refused := range map[string]bool{
		"GOOD_1": false, "_": false, "path": false, strings.Repeat("A", 256): false,
		"BAD-NAME": true, "1X": true, "A B": true, "X;touch /tmp/pwn": true, "": true, "A=B": true, "É": true,
		"A\n": true, "$(id)": true, strings.Repeat("A", 257): true,
		"BERTH_RUN_ID": true, "BERTH_": true, "BERTH": false, "berth_x": false, "MY_BERTH_X": false,
	} {
		if problem := environment.EnvNameProblem(name); (problem != "") != refused {
			t.Errorf("EnvNameProblem(%.40q) = %q, want refused %v", name, problem, refused)
		}
	}
}

func TestC70_VariableValues(t *testing.T) {
	for _, value := range []string{"a; touch /tmp/pwn", "$(touch /tmp/pwn)", `it's "x"`, "two\nlines", `\`, "", "é", strings.Repeat("x", 64<<10)} {
		if problem := environment.EnvValueProblem(value); problem != "" {
			t.Errorf("%.40q is refused: %s", value, problem)
		}
	}
	for _, value := range []string{"a\x00b", "a\xffb", strings.Repeat("x", 64<<10+1)} {
		if environment.EnvValueProblem(value) == "" {
			t.Errorf("%.40q is taken", value)
		}
	}
}

func TestLooksSecret(t *testing.T) {
	for _, tc := range []struct {
		name, value string
		want        bool
	}{
		{"SERVICE_TOKEN", "x", true},
		{"token", "x", true},
		{"AWS_SECRET_ACCESS_KEY", "x", true},
		{"DB_PASSWORD", "x", true},
		{"MYSQL_PASSWD", "x", true},
		{"SSH_PASSPHRASE", "x", true},
		{"COOKIE", "x", true},
		{"GITHUB_PAT", "x", true},
		{"DATABASE_DSN", "x", true},
		{"PLACE", "http://u:canary-5@127.0.0.1/", true},
		{"PLACE", "postgres://u:p@db/x", true},
		{"NOTE", "-----BEGIN OPENSSH PRIVATE KEY-----\nx", true},
		{"PATH", "/usr/bin", false},
		{"PLACE", "https://example.com/a@b", false},
		{"PLACE", "http://user@example.com/", false},
		{"KEYBOARD", "us", false},
		{"MONKEY", "x", false},
		{"AUTHOR", "x", false},
		{"TOKENIZER", "x", false},
	} {
		if got := environment.LooksSecret(tc.name, tc.value); got != tc.want {
			t.Errorf("LooksSecret(%q, %q) = %v, want %v", tc.name, tc.value, got, tc.want)
		}
	}
}
