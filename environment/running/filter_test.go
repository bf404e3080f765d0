package running

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"berth/environment"

	"pgregory.net/rapid"
)

func TestMasker(t *testing.T) {
	tests := map[string]struct {
		secrets string // separated by blanks
		in      string // pieces separated by |
		want    string
	}{
		"whole":               {"secret", "a secret b", "a ****** b"},
		"split":               {"secret", "a se|cr|et b", "a ****** b"},
		"split at each byte":  {"secret", "s|e|c|r|e|t", "******"},
		"only a beginning":    {"secret", "a secr|x", "a secrx"},
		"a beginning at last": {"secret", "a secr", "a secr"},
		"overlapping itself":  {"abab", "ababab", "******"},
		"overlapping another": {"abcd cdxy", "abcd|xy", "******"},
		"one begins another":  {"abcd abcdefgh", "abcd|ef|--", "****ef--"},
		"one within another":  {"abcdefgh cdef", "cdef abcdefgh", "**** ********"},
		"twice":               {"secret", "secretsecret", "************"},
		"restart of a prefix": {"aaab", "aaa|aab", "aa****"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var m masker
			for _, s := range strings.Fields(test.secrets) {
				m.secrets = append(m.secrets, []byte(s))
			}
			var got []byte
			for piece := range strings.SplitSeq(test.in, "|") {
				got = append(got, m.push([]byte(piece))...)
			}
			if got = append(got, m.flush()...); string(got) != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// However a stream is cut, what comes out is what masking the whole would give,
// at its own offsets, and no piece but the last ends within a character.
func TestFilter_anyCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := rapid.SliceOfN(rapid.StringMatching(`[abé]{4,7}`), 0, 3).Draw(t, "secrets")
		text := []byte(rapid.StringMatching(`([abé€x]|\n){0,60}`).Draw(t, "text"))
		f := &filter{}
		want := bytes.Clone(text)
		for _, s := range secrets {
			f.mask.secrets = append(f.mask.secrets, []byte(s))
			hide(want, text, []byte(s))
		}
		var got []byte
		note := func(p piece, last bool) {
			if p.offset != int64(len(got)) {
				t.Fatalf("piece at %d, want %d", p.offset, len(got))
			}
			if !last && !utf8.Valid(p.data) {
				t.Fatalf("piece %q ends within a character", p.data)
			}
			got = append(got, p.data...)
		}
		for at := 0; at < len(text); {
			n := rapid.IntRange(1, len(text)-at).Draw(t, "n")
			back := rapid.IntRange(0, at).Draw(t, "again") // delivered twice after a reconnect
			for _, p := range f.take(int64(back), text[back:at+n]) {
				note(p, false)
			}
			at += n
		}
		note(f.flush(), true)
		if !bytes.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestFilter_hole(t *testing.T) {
	f := &filter{mask: masker{secrets: [][]byte{[]byte("secret")}}}
	first := f.take(0, []byte("a se"))
	after := f.take(10, []byte("b"))
	if string(first[0].data) != "a " || string(after[0].data) != "se" || after[0].offset != 2 || string(after[1].data) != "b" || after[1].offset != 10 {
		t.Errorf("got %+v and %+v, want what was held back and then the new offset", first, after)
	}
}

func TestCutRunes(t *testing.T) {
	tests := map[string]struct {
		in    string
		limit int
		head  string
	}{
		"short": {"abc", 3, "abc"}, "ascii": {"abcd", 3, "abc"}, "within a character": {"ab€d", 3, "ab"},
		"invalid bytes": {"\xff\xff\xff\xff", 3, "\xff\xff\xff"}, "stray continuation": {"\x80\x80\x80\x80", 3, "\x80\x80\x80"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			head, rest := cutRunes([]byte(test.in), test.limit)
			if string(head) != test.head || string(head)+string(rest) != test.in {
				t.Errorf("got %q and %q, want %q first", head, rest, test.head)
			}
		})
	}
}

func BenchmarkMasker(b *testing.B) {
	m := masker{}
	for _, s := range []string{"first-secret-value", "second-secret-value", "third-secret-value"} {
		m.secrets = append(m.secrets, []byte(s))
	}
	line := bytes.Repeat([]byte("an ordinary line of output of a build\n"), 32<<10/38)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		m.push(line)
	}
}

// TestMasked: a secret is known by its lines too, however a terminal ends them or
// a program cuts them; short lines are common words.
func TestMasked(t *testing.T) {
	const key = "-----BEGIN KEY-----\nbase64of0the1first2line\n  base64of0the1second\n}\n-----END KEY-----\n"
	g := goods{vars: []environment.EnvValue{
		{Name: "KEY", Value: environment.NewSecret(key), Masked: true},
		{Name: "PADDED", Value: environment.NewSecret("  padded secret \n"), Masked: true},
		{Name: "SHORT", Value: environment.NewSecret("abc"), Masked: true},
		{Name: "PLAIN", Value: environment.NewSecret("plain value"), Masked: false},
	}}
	for in, want := range map[string]string{
		key: strings.Repeat("*", len(key)-1) + "\n",
		"-----BEGIN KEY-----\r\nbase64of0the1first2line\r\n": strings.Repeat("*", 19) + "\r\n" + strings.Repeat("*", 23) + "\r\n",
		"second: base64of0the1second!":                       "second: " + strings.Repeat("*", 19) + "!",
		"[padded secret]":                                    "[*************]",
		"abc } plain value":                                  "abc } plain value",
	} {
		m := masker{secrets: masked(g)}
		if got := string(append(m.push([]byte(in)), m.flush()...)); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}
