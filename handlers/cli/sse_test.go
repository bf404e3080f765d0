package cli

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestReadMessages(t *testing.T) {
	for name, test := range map[string]struct {
		in   string
		want []message
	}{
		"nothing":            {"", nil},
		"a comment only":     {": still here\n\n", nil},
		"retry only":         {"retry: 1000\n\n", nil},
		"one":                {"id: 7\nevent: stage\ndata: {}\n\n", []message{{"7", "stage", "{}"}}},
		"lines of data":      {"event: output\ndata: a\ndata:  b\n\n", []message{{"", "output", "a\n b"}}},
		"the id stays":       {"id: 7\nevent: a\ndata: x\n\nevent: b\ndata: y\n\n", []message{{"7", "a", "x"}, {"7", "b", "y"}}},
		"cut off at the end": {"event: a\ndata: x\n\nevent: b\ndata: y\n", []message{{"", "a", "x"}}},
		"no blank":           {"event:a\ndata:x\n\n", []message{{"", "a", "x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []message
			err := readMessages(strings.NewReader(test.in), func(m message) (bool, error) {
				got = append(got, m)
				return false, nil
			})
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%q gives %q, %v; want %q", test.in, got, err, test.want)
			}
		})
	}
}

func TestReadMessages_StopsWhenTold(t *testing.T) {
	const in = "event: a\ndata: 1\n\nevent: b\ndata: 2\n\n"
	n := 0
	if err := readMessages(strings.NewReader(in), func(message) (bool, error) { n++; return true, nil }); err != nil || n != 1 {
		t.Errorf("read %d messages, %v; want 1", n, err)
	}
	bad := errors.New("bad")
	if err := readMessages(strings.NewReader(in), func(message) (bool, error) { return false, bad }); !errors.Is(err, bad) {
		t.Errorf("got %v, want the caller's error", err)
	}
}

func TestTable_AlignsWhatIsSeen(t *testing.T) {
	var b strings.Builder
	table := newTable(&b, "NAME", "HEALTH", "ID")
	table.row("a", green+"ready"+plain, "1")
	table.row("größer", "unreachable", "2")
	table.row("evil\x1b[2J\nname", "ready", "3")
	table.flush()
	const want = "NAME           HEALTH       ID\n" +
		"a              " + green + "ready" + plain + "        1\n" +
		"größer         unreachable  2\n" +
		"evil\uFFFD[2J name  ready        3\n"
	if b.String() != want {
		t.Errorf("got\n%q\nwant\n%q", b.String(), want)
	}
}

func TestNextPath(t *testing.T) {
	for link, want := range map[string]string{
		"": "",
		`</api/companies/c/runs?cursor=x&limit=2>; rel="next"`:         "/companies/c/runs?cursor=x&limit=2",
		`<https://h/api/a?cursor=y>; rel="next"`:                       "/a?cursor=y",
		`</api/a?cursor=1>; rel="prev", </api/a?cursor=2>; rel="next"`: "/a?cursor=2",
		`</api/a?cursor=1>; rel="prev"`:                                "",
	} {
		if got := nextPath(link); got != want {
			t.Errorf("next of %q is %q, want %q", link, got, want)
		}
	}
}

func TestDropLineEnd(t *testing.T) {
	for in, want := range map[string]string{"pass one\n": "pass one", "pass one ": "pass one ", "a\r\n": "a", "a\n\n": "a\n", "": ""} {
		if got := dropLineEnd(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}
