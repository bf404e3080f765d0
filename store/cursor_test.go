package store_test

import (
	"encoding/base64"
	"fmt"
	"testing"

	"berth/environment"
	"berth/environment/leasing"
	"berth/environment/probing"
	"berth/environment/running"
	"berth/store/storetest"
)

// TestCursorsWithWrongKeys: of the right form and order, and yet none that Berth
// gave out.
func TestCursorsWithWrongKeys(t *testing.T) {
	db := storetest.New(t)
	id := environment.NewID()
	cursor := func(order, keys string) string {
		return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"o":%q,"k":%s,"i":%q}`, order, keys, id))
	}
	for _, wrong := range []string{`["x"]`, `["\u0000"]`, `["9999999-01-01"]`} {
		_, runs := db.Runs(t.Context(), running.Filter{Cursor: cursor("runs", wrong)})
		_, leases := db.Leases(t.Context(), leasing.Filter{Cursor: cursor("leases", wrong)})
		_, probes := db.Probes(t.Context(), probing.Filter{EnvironmentID: id, Limit: 1, Cursor: cursor("probes", wrong)})
		_, activity := db.Activity(t.Context(), environment.ActivityFilter{Cursor: cursor("activity", wrong)})
		_, environments := db.ListEnvironments(t.Context(), environment.ListFilter{Cursor: cursor("updated", wrong)})
		for list, err := range map[string]error{"runs": runs, "leases": leases, "probes": probes, "activity": activity, "environments": environments} {
			if environment.CodeOf(err) != "invalid_cursor" || environment.KindOf(err) != environment.KindUnreadable {
				t.Errorf("%s after %s: got %v, want invalid_cursor", list, wrong, err)
			}
		}
	}
	for order, keys := range map[string]string{"health": `["x", "a"]`, "name": `["\u0000"]`, "driver": `["a", "\u0000"]`} {
		_, err := db.ListEnvironments(t.Context(), environment.ListFilter{Sort: order, Cursor: cursor(order, keys)})
		if environment.CodeOf(err) != "invalid_cursor" {
			t.Errorf("by %s after %s: got %v, want invalid_cursor", order, keys, err)
		}
	}
}
