package identity_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

func TestRefused(t *testing.T) {
	d := newDeskWithAdmin(t)
	d.Refused(t.Context(), d.admin, "GET", "/api/agents/:id", "agent_not_found", "018f4e9c-0000-7000-8000-000000000000")
	entry := d.one("access.refused", 1)
	if *entry.ActorID != d.admin.ID || entry.Details["method"] != "GET" || entry.Details["code"] != "agent_not_found" ||
		entry.Details["subject"] != "018f4e9c-0000-7000-8000-000000000000" || entry.EntityID != "/api/agents/:id" {
		t.Errorf("the log says %+v", entry)
	}
	// Whoever hangs up is noted all the same.
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	d.Refused(gone, environment.Actor{}, "DELETE", "/api/people/:id", "unauthenticated", strings.Repeat("x", 10_000)+"\x00")
	entry = d.one("access.refused", 2)
	if subject, _ := entry.Details["subject"].(string); entry.ActorID != nil || len(subject) != 200 {
		t.Errorf("nobody's attempt: %+v", entry)
	}
}

// TestRefusedDoesNotFillTheDisk: a hundred entries a minute from one actor, then
// one line in the server's log; others are noted meanwhile.
func TestRefusedDoesNotFillTheDisk(t *testing.T) {
	d := newDeskWithAdmin(t)
	noisy := environment.Actor{Kind: environment.ActorAgent, ID: uuid.New(), Name: "noisy"}
	attempt := func(actor environment.Actor) {
		d.Refused(t.Context(), actor, "GET", "/api/runs/:id", "run_not_found", uuid.NewString())
	}
	for range 1000 {
		attempt(noisy)
	}
	if n := len(d.done("access.refused")); n != 100 {
		t.Errorf("%d entries, want 100", n)
	}
	if n := strings.Count(d.log.String(), "further refused attempts"); n != 1 {
		t.Errorf("%d lines in the server's log, want 1: %s", n, d.log)
	}
	attempt(d.admin)
	if n := len(d.done("access.refused")); n != 101 {
		t.Errorf("%d entries with one of somebody else, want 101", n)
	}
	d.clock.pass(time.Minute - time.Nanosecond)
	attempt(noisy)
	if n := len(d.done("access.refused")); n != 101 {
		t.Errorf("%d entries within the minute, want 101", n)
	}
	d.clock.pass(time.Nanosecond)
	attempt(noisy)
	if n := len(d.done("access.refused")); n != 102 {
		t.Errorf("%d entries after a minute, want 102", n)
	}
}
