package ssh

import (
	"crypto/hmac"
	"crypto/sha1" // the hash of hashed names in known_hosts is fixed
	"strings"
)

// matchNames reports whether a line's names mean the host: one matches and none
// that is negated does. name is canonical.
func matchNames(names []string, name string) bool {
	matched := false
	for _, pattern := range names {
		negated := strings.HasPrefix(pattern, "!")
		if matchName(strings.TrimPrefix(pattern, "!"), name) {
			if negated {
				return false
			}
			matched = true
		}
	}
	return matched
}

func matchName(pattern, name string) bool {
	if strings.HasPrefix(pattern, "|") {
		salt, hash, ok := splitHashed(pattern)
		if !ok {
			return false
		}
		mac := hmac.New(sha1.New, salt)
		mac.Write([]byte(name))
		return hmac.Equal(mac.Sum(nil), hash)
	}
	if !strings.ContainsAny(pattern, "*?") {
		return canonicalName(pattern) == name
	}
	return matchWildcard(strings.ToLower(pattern), name)
}

// matchWildcard knows "*" and "?". It takes no more than len(pattern) times
// len(name) steps.
func matchWildcard(pattern, name string) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
