package environment_test

import (
	"strings"
	"testing"

	"berth/environment"
)

func TestCleanName(t *testing.T) {
	for name, tc := range map[string]struct {
		in, want string
		refused  bool
	}{
		"trimmed":                   {in: "  Build Box ", want: "Build Box"},
		"inner blanks fold":         {in: "Build\t \n Box", want: "Build Box"},
		"no-break space folds":      {in: "Build\u00a0Box", want: "Build Box"},
		"one character":             {in: "x", want: "x"},
		"not latin":                 {in: "Größe 箱", want: "Größe 箱"},
		"120 characters":            {in: strings.Repeat("é", 120), want: strings.Repeat("é", 120)},
		"120 after trimming":        {in: " " + strings.Repeat("a", 120) + " ", want: strings.Repeat("a", 120)},
		"121 characters":            {in: strings.Repeat("é", 121), refused: true},
		"empty":                     {in: "", refused: true},
		"blank":                     {in: " \t ", refused: true},
		"NUL":                       {in: "a\x00b", refused: true},
		"escape":                    {in: "a\x1b[31mb", refused: true},
		"delete":                    {in: "a\x7fb", refused: true},
		"broken UTF-8":              {in: "a\xffb", refused: true},
		"markup is only text":       {in: "<b>x</b>", want: "<b>x</b>"},
		"leading dash stays a name": {in: "-rf", want: "-rf"},
	} {
		t.Run(name, func(t *testing.T) {
			got, problem := environment.CleanName(tc.in)
			if got != tc.want || (problem != "") != tc.refused {
				t.Errorf("CleanName(%q) = %q, %q; want %q, refused %v", tc.in, got, problem, tc.want, tc.refused)
			}
		})
	}
}

func TestNameKeyIgnoresCase(t *testing.T) {
	for _, pair := range [][2]string{{"Build Box", "build box"}, {"ÄRGER", "ärger"}, {"LOCAL", "Local"}} {
		if environment.NameKey(pair[0]) != environment.NameKey(pair[1]) {
			t.Errorf("%q and %q are not the same name", pair[0], pair[1])
		}
	}
}
