package environment

import (
	"time"

	"github.com/google/uuid"
)

// AgentStatus is whether an agent may work.
type AgentStatus string

// The statuses of an agent.
const (
	AgentActive   AgentStatus = "active"
	AgentDisabled AgentStatus = "disabled"
)

// Agent is a worker of a company that asks for runs with a key of its own.
type Agent struct {
	ID          uuid.UUID   `db:"id"`
	CompanyID   uuid.UUID   `db:"company_id"`
	Name        string      `db:"name"` // unique in its company without regard to case
	AdapterType string      `db:"adapter_type"`
	Status      AgentStatus `db:"status"`
	// DefaultEnvironmentID is where it works when a run names no environment.
	DefaultEnvironmentID *uuid.UUID `db:"default_environment_id"`
	CreatedAt            time.Time  `db:"created_at"`
	UpdatedAt            time.Time  `db:"updated_at"`
}
