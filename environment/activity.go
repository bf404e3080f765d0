package environment

import (
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

// ActivityFilter narrows the log. Newest first.
type ActivityFilter struct {
	EntityType string
	EntityID   string
	CompanyID  *uuid.UUID
	Action     string // exact, or a prefix that ends with "."
	Actor      string // part of the actor's name, without regard to case
	Since      *time.Time
	Until      *time.Time // exclusive
	Limit      int
	Cursor     string
}
