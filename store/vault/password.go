package vault

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"berth/environment"

	"golang.org/x/crypto/argon2"
)

// Hasher turns passwords into argon2id hashes in PHC form,
// "$argon2id$v=19$m=65536,t=3,p=1$<salt>$<key>". Its methods may be called at
// the same time; each call takes MemoryKiB for as long as it runs.
type Hasher struct{ cost cost }

// MemoryKiB is what one call of a Hasher takes. It is well above the least that
// OWASP asks for (19 MiB with two passes), because a server checks few passwords
// and whoever took the table tries many.
const MemoryKiB = 64 << 10

// cost is what an attacker pays for each guess.
type cost struct {
	memory  uint32 // KiB
	passes  uint32
	threads uint8
}

const (
	saltBytes = 16
	keyBytes  = 32
)

// NewHasher returns a hasher with today's cost.
func NewHasher() *Hasher {
	return &Hasher{cost{memory: MemoryKiB, passes: 3, threads: 1}}
}

// Hash makes a hash with a salt of its own, as identity.Hasher says.
func (h *Hasher) Hash(password environment.Secret) (string, error) {
	p := phc{cost: h.cost, salt: make([]byte, saltBytes)}
	if _, err := rand.Read(p.salt); err != nil {
		return "", fmt.Errorf("make the salt of a password: %w", err)
	}
	p.key = p.keyOf(password, keyBytes)
	return p.String(), nil
}

// Matches compares, as identity.Hasher says. A text that is no hash of ours matches
// nothing.
func (h *Hasher) Matches(hash string, password environment.Secret) (ok, stale bool) {
	p, readable := parsePHC(hash)
	if !readable {
		return false, false
	}
	ok = subtle.ConstantTimeCompare(p.key, p.keyOf(password, uint32(len(p.key)))) == 1
	return ok, p.memory < h.cost.memory || p.passes < h.cost.passes || len(p.key) < keyBytes || len(p.salt) < saltBytes
}

// phc is a hash taken apart.
type phc struct {
	cost
	salt, key []byte
}

func (p phc) keyOf(password environment.Secret, length uint32) []byte {
	return argon2.IDKey([]byte(password.Reveal()), p.salt, p.passes, p.memory, p.threads, length)
}

func (p phc) String() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.memory, p.passes, p.threads,
		base64.RawStdEncoding.EncodeToString(p.salt), base64.RawStdEncoding.EncodeToString(p.key))
}

// The largest numbers that a hash may ask for: a row of the database must not be
// able to take the server's memory or hold a processor for minutes.
const (
	maxMemoryKiB = 256 << 10
	maxPasses    = 16
	maxThreads   = 16
	maxPHC       = 256 // bytes of the whole text
)

// parsePHC reads what String writes; false for anything else, and for numbers
// beyond the limits.
func parsePHC(text string) (phc, bool) {
	parts := strings.Split(text, "$")
	if len(text) > maxPHC || len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != "v="+strconv.Itoa(argon2.Version) {
		return phc{}, false
	}
	cost, ok := parseCost(parts[3])
	if !ok {
		return phc{}, false
	}
	salt, err := base64.RawStdEncoding.Strict().DecodeString(parts[4])
	if err != nil || len(salt) < 8 || len(salt) > 64 {
		return phc{}, false
	}
	key, err := base64.RawStdEncoding.Strict().DecodeString(parts[5])
	if err != nil || len(key) < 16 || len(key) > 64 {
		return phc{}, false
	}
	p := phc{cost, salt, key}
	return p, p.String() == text // one text for one hash: no line breaks, no leading zeros
}

// parseCost reads "m=65536,t=3,p=1".
func parseCost(text string) (cost, bool) {
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return cost{}, false
	}
	memory, ok1 := parseNumber(parts[0], "m=", maxMemoryKiB)
	passes, ok2 := parseNumber(parts[1], "t=", maxPasses)
	threads, ok3 := parseNumber(parts[2], "p=", maxThreads)
	return cost{memory, passes, uint8(threads)}, ok1 && ok2 && ok3 && memory >= 8*threads
}

func parseNumber(text, prefix string, most uint64) (uint32, bool) {
	digits, ok := strings.CutPrefix(text, prefix)
	n, err := strconv.ParseUint(digits, 10, 32)
	return uint32(n), ok && err == nil && n >= 1 && n <= most
}
