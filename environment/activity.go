package environment

import (
	"strings"
	"time"

	"github.com/google/uuid"
)

// Activity is one entry of the log of who did what. Details never hold a
// secret: a changed secret reads "changed".
type Activity struct {
	ID         uuid.UUID
	CompanyID  *uuid.UUID
	ActorKind  ActorKind
	ActorID    *uuid.UUID // of the person or agent; nil for others
	ActorName  string
	Action     string // "environment.created", ...
	EntityType string // "environment", "run", "instance", "company", "environment_lease"
	EntityID   string
	Details    map[string]any
	RequestID  string
	CreatedAt  time.Time
}

// By is the entry of what an actor did.
func (a Activity) By(actor Actor) Activity {
	a.ActorKind, a.ActorName, a.ActorID = actor.Kind, actor.Name, nil
	if actor.ID != uuid.Nil {
		a.ActorID = &actor.ID
	}
	return a
}

// Interruption is the entry of a probe that ended with its server. Nobody asked
// for that end.
func Interruption(p Probe) Activity {
	a := Activity{
		CompanyID: p.CompanyID, Action: "environment.probe_interrupted", EntityType: "environment", EntityID: "unsaved",
		Details: map[string]any{"probeId": p.ID.String(), "driver": p.Driver, "summary": p.Summary}, CreatedAt: *p.FinishedAt,
	}
	if p.EnvironmentID != nil && !p.Draft {
		a.EntityID = p.EnvironmentID.String()
	}
	return a.By(System())
}

// ActivityFilter narrows the log. Newest first.
type ActivityFilter struct {
	EntityType string
	EntityID   string
	CompanyID  *uuid.UUID
	Action     string // exact, or a prefix: see ActionPrefix
	Actor      string // part of the actor's name, without regard to case
	Since      *time.Time
	Until      *time.Time // exclusive
	Limit      int
	Cursor     string
}

// ActionPrefix reports whether a filter's action stands for every one that begins
// with it: "run.", "environment.lease_".
func ActionPrefix(action string) bool {
	return strings.HasSuffix(action, ".") || strings.HasSuffix(action, "_")
}
