package handlers

import (
	"strings"
	"testing"
)

// TestKeysInLocalTrusted: nobody needs one, and one that was meant for another
// server is not taken for the operator's.
func TestKeysInLocalTrusted(t *testing.T) {
	f := newFront(t)
	for key, want := range map[string]int{"": 200, "Bearer wrong": 401, "Basic dTpw": 401, "Bearer": 401, "Bearer ": 401} {
		var headers []string
		if key != "" {
			headers = []string{"Authorization: " + key}
		}
		for _, path := range []string{"/api/companies", "/api/health"} {
			a := f.call("GET", path, "", headers...)
			if a.Status != want || (want == 401 && !strings.Contains(a.Body, `"invalid_key"`)) {
				t.Errorf("%s with key %q: %d %s, want %d", path, key, a.Status, a.Body, want)
			}
		}
	}
}
