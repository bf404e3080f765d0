package storetest_test

import (
	"testing"

	"berth/store/storetest"
)

func TestEachTestHasItsOwnDatabase(t *testing.T) {
	one, other := storetest.New(t), storetest.New(t)
	a, err := one.InstanceID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := other.InstanceID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a != b {
		t.Errorf("two copies of one template: got instances %s and %s", a, b)
	}
	if err := one.BindKeyset(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if err := other.BindKeyset(t.Context(), "other"); err != nil {
		t.Errorf("what one database holds shows in the other: %v", err)
	}
}
