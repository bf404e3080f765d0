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
	ActorName  string
	Action     string // "environment.created", ...
	EntityType string // "environment", "run", "instance", "company", "environment_lease"
	EntityID   string
	Details    map[string]any
	RequestID  string
	CreatedAt  time.Time
}

// ActivityFilter narrows the log. Newest first.
type ActivityFilter struct {
	EntityType string
	EntityID   string
	CompanyID  *uuid.UUID
	Limit      int
	Cursor     string
}
