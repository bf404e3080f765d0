package vault

import (
	"strings"
	"testing"

	"berth/environment"
)

func TestHasher(t *testing.T) {
	h := NewHasher()
	hash, err := h.Hash(environment.NewSecret("correct horse battery"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.Hash(environment.NewSecret("correct horse battery"))
	if err != nil {
		t.Fatal(err)
	}
	if hash == again {
		t.Error("two hashes of one password are the same: the salt is not random")
	}
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=65536,t=3,p=1$") {
		t.Errorf("the hash is %q", hash)
	}
	for name, tc := range map[string]struct {
		hash, password string
		want           bool
	}{
		"right":              {hash, "correct horse battery", true},
		"wrong":              {hash, "correct horse batterz", false},
		"another case":       {hash, "Correct horse battery", false},
		"empty":              {hash, "", false},
		"no hash":            {"", "correct horse battery", false},
		"the hash itself":    {hash, hash, false},
		"a hash that is cut": {hash[:len(hash)-1], "correct horse battery", false},
		"of another kind":    {strings.Replace(hash, "argon2id", "argon2i", 1), "correct horse battery", false},
	} {
		ok, stale := h.Matches(tc.hash, environment.NewSecret(tc.password))
		if ok != tc.want || stale {
			t.Errorf("%s: Matches gives %v, stale %v; want %v, false", name, ok, stale, tc.want)
		}
	}
}

// TestWeakerHashIsStale uses the least that OWASP asks for as yesterday's cost.
func TestWeakerHashIsStale(t *testing.T) {
	today := NewHasher()
	for name, weaker := range map[string]cost{
		"less memory":  {memory: 19 << 10, passes: 3, threads: 1},
		"fewer passes": {memory: MemoryKiB, passes: 2, threads: 1},
	} {
		hash, err := (&Hasher{weaker}).Hash(environment.NewSecret("correct horse battery"))
		if err != nil {
			t.Fatal(err)
		}
		if ok, stale := today.Matches(hash, environment.NewSecret("correct horse battery")); !ok || !stale {
			t.Errorf("%s: Matches gives %v, stale %v; want true, true", name, ok, stale)
		}
	}
}

// TestHashAsksForNoMore: a row of the database cannot take the server's memory.
func TestHashAsksForNoMore(t *testing.T) {
	const rest = "$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	for name, tc := range map[string]struct {
		text string
		want bool
	}{
		"at the limits":                   {"$argon2id$v=19$m=262144,t=16,p=16" + rest, true},
		"memory":                          {"$argon2id$v=19$m=262145,t=3,p=1" + rest, false},
		"passes":                          {"$argon2id$v=19$m=65536,t=17,p=1" + rest, false},
		"threads":                         {"$argon2id$v=19$m=65536,t=3,p=17" + rest, false},
		"nothing":                         {"$argon2id$v=19$m=0,t=0,p=0" + rest, false},
		"memory below what argon2 can do": {"$argon2id$v=19$m=15,t=3,p=2" + rest, false},
		"negative":                        {"$argon2id$v=19$m=-1,t=3,p=1" + rest, false},
		"beyond 32 bits":                  {"$argon2id$v=19$m=4294967296,t=3,p=1" + rest, false},
		"leading zero":                    {"$argon2id$v=19$m=065536,t=3,p=1" + rest, false},
		"plus":                            {"$argon2id$v=19$m=+65536,t=3,p=1" + rest, false},
		"another order":                   {"$argon2id$v=19$t=3,m=65536,p=1" + rest, false},
		"another version":                 {"$argon2id$v=16$m=65536,t=3,p=1" + rest, false},
		"short salt":                      {"$argon2id$v=19$m=65536,t=3,p=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", false},
		"short key":                       {"$argon2id$v=19$m=65536,t=3,p=1$c2FsdHNhbHRzYWx0c2FsdA$AAAA", false},
		"long key":                        {"$argon2id$v=19$m=65536,t=3,p=1$c2FsdHNhbHRzYWx0c2FsdA$" + strings.Repeat("AAAA", 24), false},
		"padding":                         {"$argon2id$v=19$m=65536,t=3,p=1" + rest + "=", false},
		"line break":                      {"$argon2id$v=19$m=65536,t=3,p=1" + rest[:30] + "\n" + rest[30:], false},
		"loose last bits":                 {"$argon2id$v=19$m=65536,t=3,p=1" + rest[:len(rest)-1] + "B", false},
		"one part too many":               {"$argon2id$v=19$m=65536,t=3,p=1" + rest + "$", false},
		"nothing at all":                  {"", false},
	} {
		if _, ok := parsePHC(tc.text); ok != tc.want {
			t.Errorf("%s: parsePHC(%q) gives %v, want %v", name, tc.text, ok, tc.want)
		}
	}
}

// FuzzPHC checks that what is read is written back as it was, and within limits.
func FuzzPHC(f *testing.F) {
	f.Add("$argon2id$v=19$m=65536,t=3,p=1$c2FsdHNhbHRzYWx0c2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("$argon2id$v=19$m=4294967295,t=3,p=1$$")
	f.Add("$argon2i$v=19$m=65536,t=3,p=255$c2FsdHNhbHQ$c2FsdHNhbHRzYWx0c2FsdA")
	f.Add("$$$$$")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		p, ok := parsePHC(text)
		if !ok {
			return
		}
		if p.String() != text {
			t.Errorf("%q is read as %q", text, p)
		}
		if p.memory > maxMemoryKiB || p.passes < 1 || p.passes > maxPasses || p.threads < 1 || p.threads > maxThreads || len(p.key) < 16 {
			t.Errorf("%q is beyond the limits: %+v", text, p.cost)
		}
	})
}

func BenchmarkHash(b *testing.B) {
	h := NewHasher()
	for b.Loop() {
		if _, err := h.Hash(environment.NewSecret("correct horse battery")); err != nil {
			b.Fatal(err)
		}
	}
}
