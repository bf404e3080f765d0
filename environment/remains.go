package environment

import (
	"time"

	"github.com/google/uuid"
)

// Remains are what a run may have left on a target that was out of reach at its
// end: whatever still lives there, and the folder with its output.
type Remains struct {
	RunID   uuid.UUID `db:"run_id"`
	LeaseID uuid.UUID `db:"lease_id"` // how the target is reached
	Tries   int       `db:"tries"`    // that failed
}

// RemainsKept is how long remains are tried to be removed.
const RemainsKept = 7 * 24 * time.Hour
