package handlers

import (
	"encoding/json"
	"testing"

	"berth/environment"

	"github.com/google/uuid"
)

// TestListsTakeQ: each list of the API that can grow narrows by q.
func TestListsTakeQ(t *testing.T) {
	h := newHouse(t, "instance admin")
	c := "/api/companies/" + h.ids[":c"]
	for path, body := range map[string]string{
		c + "/agents": `{"name":"Needle 100%"}`, c + "/secrets": `{"name":"needle 100%","value":"x"}`,
	} {
		if a := h.ask("instance admin", "POST", path, body); a.Status != 201 {
			t.Fatalf("POST %s: %d %s", path, a.Status, a.Body)
		}
	}
	if a := h.ask("instance admin", "PATCH", "/api/people/"+h.ids["person"], `{"name":"Needle 100%"}`); a.Status != 200 {
		t.Fatalf("PATCH of a person: %d %s", a.Status, a.Body)
	}
	h.must(h.store.CreateRun(t.Context(), environment.Run{ID: environment.NewID(), CompanyID: uuid.MustParse(h.ids[":c"]), EnvironmentName: "box",
		Driver: "ssh", Status: environment.RunSucceeded, Command: []string{"echo", "Needle 100%"}}, environment.Activity{}))
	for _, list := range []string{c + "/agents", c + "/secrets", c + "/runs", "/api/people"} {
		for query, want := range map[string]int{"+NEEDLE+100%25": 1, "needle_100": 0, "nothing-like-it": 0} {
			var got []map[string]any
			a := h.ask("instance admin", "GET", list+"?limit=5&q="+query, "")
			if err := json.Unmarshal([]byte(a.Body), &got); err != nil || a.Status != 200 || len(got) != want {
				t.Errorf("%s with %s: %d %s, want %d", list, query, a.Status, a.Body, want)
			}
		}
	}
}
