package environment_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"berth/environment"
)

// newToken makes the token of 32 bytes that are all b.
func newToken(t testing.TB, kind environment.TokenKind, b byte) string {
	t.Helper()
	text, _, err := environment.NewToken(kind, bytes.NewReader(bytes.Repeat([]byte{b}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return text.Reveal()
}

func TestNewToken(t *testing.T) {
	for _, kind := range []environment.TokenKind{environment.TokenPerson, environment.TokenAgent, environment.TokenLink} {
		text, made, err := environment.NewToken(kind, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		read, ok := environment.ParseToken(text.Reveal())
		if !ok || read != made || read.Kind != kind {
			t.Errorf("a token of kind %s is read as %+v, %v; it was made as %+v", kind, read, ok, made)
		}
		if made.Hash != sha256.Sum256([]byte(text.Reveal())) || !strings.HasSuffix(text.Reveal(), made.Hint) || len(made.Hint) != 4 {
			t.Errorf("a token of kind %s has the hash %x and the hint %q", kind, made.Hash, made.Hint)
		}
		if !strings.HasPrefix(text.Reveal(), "berth_"+string(kind)+"_") {
			t.Errorf("a token of kind %s begins otherwise", kind)
		}
	}
}

func TestNewTokenWithoutRandomness(t *testing.T) {
	if _, _, err := environment.NewToken(environment.TokenAgent, bytes.NewReader(make([]byte, 31))); err == nil {
		t.Error("31 bytes of random make a token")
	}
	broken := errors.New("no entropy")
	if _, _, err := environment.NewToken(environment.TokenAgent, failing{broken}); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// flipped is text with the character at i replaced by another of the alphabet.
func flipped(text string, i int) string {
	other := byte('A')
	if text[i] == other {
		other = 'B'
	}
	return text[:i] + string(other) + text[i+1:]
}

func TestParseToken(t *testing.T) {
	good := newToken(t, environment.TokenPerson, 7)
	end := len(good)
	for name, tc := range map[string]struct {
		text string
		want bool
	}{
		"as made":                   {good, true},
		"empty":                     {"", false},
		"prefix only":               {"berth_", false},
		"prefix and kind":           {"berth_pat_", false},
		"cut by one":                {good[:end-1], false},
		"cut to its half":           {good[:end/2], false},
		"without its start":         {good[1:], false},
		"one character more":        {good + "A", false},
		"twice":                     {good + good, false},
		"checksum altered":          {flipped(good, end-1), false},
		"body altered":              {flipped(good, 20), false},
		"two characters swapped":    {good[:20] + good[21:22] + good[20:21] + good[22:], good[20] == good[21]},
		"of another kind":           {strings.Replace(good, "pat", "agent", 1), false},
		"of no kind":                {strings.Replace(good, "pat", "cat", 1), false},
		"kind in another case":      {strings.Replace(good, "pat", "PAT", 1), false},
		"prefix in another case":    {strings.Replace(good, "berth", "Berth", 1), false},
		"in capitals":               {strings.ToUpper(good), false},
		"in small letters":          {strings.ToLower(good), false},
		"of another service":        {strings.Replace(good, "berth", "ghp", 1), false},
		"without a prefix":          {strings.TrimPrefix(good, "berth_"), false},
		"with a blank before":       {" " + good, false},
		"with a line break after":   {good + "\n", false},
		"with NUL in it":            {good[:20] + "\x00" + good[21:], false},
		"with a look-alike":         {strings.Replace(good, "e", "\u0435", 1), false}, // Cyrillic
		"full-width":                {strings.Replace(good, "berth", "ｂｅｒｔｈ", 1), false},
		"not UTF-8":                 {good[:20] + "\xff" + good[21:], false},
		"with the scheme before it": {"Bearer " + good, false},
		"very long":                 {"berth_pat_" + strings.Repeat("A", 1<<20), false},
		"very long, no kind":        {strings.Repeat("berth_", 1<<18), false},
		"null":                      {"null", false},
		"undefined":                 {"undefined", false},
	} {
		if got, ok := environment.ParseToken(tc.text); ok != tc.want {
			t.Errorf("%s: got %+v, %v; want %v", name, got.Kind, ok, tc.want)
		}
	}
}

// TestEveryAlteredCharacterShows: a token with one wrong character is told from a
// right one without asking the store.
func TestEveryAlteredCharacterShows(t *testing.T) {
	good := newToken(t, environment.TokenLink, 200)
	for i := range good {
		if _, ok := environment.ParseToken(flipped(good, i)); ok {
			t.Errorf("with the character at %d altered it is still a token", i)
		}
	}
}

// FuzzParseToken checks that what is read as a token is one: of a known kind, of
// the one length, its hash that of the whole text.
func FuzzParseToken(f *testing.F) {
	for _, kind := range []environment.TokenKind{environment.TokenPerson, environment.TokenAgent, environment.TokenLink} {
		good := newToken(f, kind, 0)
		f.Add(good)
		f.Add(good[:len(good)-1])
		f.Add(flipped(good, len(good)-2))
		f.Add(strings.ToUpper(good))
		f.Add(good + "\x00")
	}
	f.Add("berth_")
	f.Add("berth_pat_")
	f.Add("_______")
	f.Add("ghp_0123456789abcdefghijklmnopqrstuvwxyz")
	f.Add("bеrth_pat_" + strings.Repeat("A", 49))
	f.Add("berth_pat_" + strings.Repeat("é", 49))
	f.Fuzz(func(t *testing.T, text string) {
		token, ok := environment.ParseToken(text)
		if !ok {
			if token != (environment.Token{}) {
				t.Errorf("%q is no token and gives %+v", text, token)
			}
			return
		}
		if want := "berth_" + string(token.Kind) + "_"; !strings.HasPrefix(text, want) || len(text) != len(want)+49 {
			t.Errorf("%q is read as a token of kind %s", text, token.Kind)
		}
		if token.Hash != sha256.Sum256([]byte(text)) || token.Hint != text[len(text)-4:] {
			t.Errorf("%q has the hash %x and the hint %q", text, token.Hash, token.Hint)
		}
	})
}
