package handlers

import (
	"errors"
	"testing"

	"berth/environment"
	"berth/environment/environmenttest"
)

// TestFormsComeBackToAnotherServer: what a form of one server carries sealed opens
// on another of the same keyset, and on no other.
func TestFormsComeBackToAnotherServer(t *testing.T) {
	file := environmenttest.NewKeysetFile()
	one, other := newNewKeys(environmenttest.OpenKeyset(file)), newNewKeys(environmenttest.OpenKeyset(file))
	foreign := environmenttest.OpenKeyset(environmenttest.NewKeysetFile())
	if err := errors.Join(foreign.Rotate(), foreign.Prune()); err != nil {
		t.Fatal(err)
	}
	sealed := one.seal(environment.NewSecret("PRIVATE"))
	if key, err := other.open(sealed, "config.privateKey"); err != nil || key.Reveal() != "PRIVATE" {
		t.Errorf("another server opens %q, %v", key.Reveal(), err)
	}
	for name, stranger := range map[string]newKeys{"another keyset": newNewKeys(foreign), "no keyset": newNewKeys(nil)} {
		if _, err := stranger.open(sealed, "config.privateKey"); environment.CodeOf(err) != "generated_key_gone" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
