package environmenttest

import (
	"fmt"
	"testing"
	"time"

	"berth/environment"
)

// testKeyLimit: of keys that are made at the same time no more are stored than
// the holder may have. Those that count no more make room.
func testKeyLimit(t *testing.T, s suite) {
	ctx, past := t.Context(), time.Now().Add(-time.Second)
	g := s.agent(s.company("Acme"), "Coder")
	s.key(environment.Key{AgentID: &g.ID, ExpiresAt: &past})
	revoked, _ := s.key(environment.Key{AgentID: &g.ID})
	s.must(s.RevokeKey(ctx, g.ID, revoked.ID, environment.Activity{}))
	const most, tries = 3, 8
	made := s.race(tries, func(i int) error {
		k := environment.Key{ID: environment.NewID(), AgentID: &g.ID, Name: fmt.Sprint("key ", i), CreatedBy: "Ada"}
		return s.CreateKey(ctx, k, []byte(k.ID.String()), most, environment.Activity{})
	}, "too_many_keys")
	same(t, "keys made at once", made, most)
}

// testOneLinkOfMany: of invitations that are made at the same time for the same
// address one stays open.
func testOneLinkOfMany(t *testing.T, s suite) {
	made := s.race(8, func(int) error {
		l := environment.Link{ID: environment.NewID(), Kind: environment.LinkInvitation, Email: "ada@example.com", CreatedBy: "Ada",
			ExpiresAt: time.Now().Add(time.Hour)}
		return s.CreateLink(t.Context(), l, []byte(l.ID.String()), environment.Activity{})
	}, "")
	same(t, "links made at once", made, 8)
	open, err := s.Links(t.Context())
	s.must(err)
	same(t, "open links", len(open), 1)
}
