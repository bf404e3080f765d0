package catalogue

import (
	"sync"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// cleanupNotedEvery is how often it is noted that a secret was opened for cleanup
// with one and the same outcome. What providers hold is asked every minute, and of
// a secret the newest openings are kept: those of people would be crowded out.
const cleanupNotedEvery = time.Hour

// cleanupNotes remembers what was noted lately. The zero value remembers nothing.
type cleanupNotes struct {
	mu    sync.Mutex
	noted map[cleanupNote]time.Time
}

type cleanupNote struct {
	secret  uuid.UUID
	version int
	path    string
	outcome string
}

// due leaves those openings that were not noted lately, and takes them for noted.
func (n *cleanupNotes) due(all []environment.SecretAccess) []environment.SecretAccess {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.noted == nil {
		n.noted = map[cleanupNote]time.Time{}
	}
	var due []environment.SecretAccess
	for _, a := range all {
		key := cleanupNote{secret: a.SecretID, version: a.Version, path: a.ConfigPath, outcome: a.Outcome}
		if at, known := n.noted[key]; known && a.At.Sub(at) < cleanupNotedEvery {
			continue
		}
		n.noted[key] = a.At
		due = append(due, a)
	}
	for key, at := range n.noted {
		if len(due) > 0 && due[0].At.Sub(at) >= cleanupNotedEvery {
			delete(n.noted, key)
		}
	}
	return due
}
