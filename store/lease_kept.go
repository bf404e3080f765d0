package store

import (
	"sync"

	"berth/environment"

	"github.com/google/uuid"
)

// mostKept bounds the rows that are kept. Another is read.
const mostKept = 4096

// leaseRows are leases that this server is at work with, as it wrote them last, so
// that their next change need not read them first. Others may change a row: then
// its version is another, the change is refused, and the row is read.
type leaseRows struct {
	mu   sync.Mutex
	rows map[uuid.UUID]versioned
}

// keep remembers what a row has become. What was written lazily is not kept: a crash
// of the database may take it back, and its version would be given to other rows.
func (k *leaseRows) keep(row versioned, lazy bool) {
	if lazy || row.Status != environment.LeaseAcquiring && row.Status != environment.LeaseActive && row.Status != environment.LeaseReleasing {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rows == nil {
		k.rows = map[uuid.UUID]versioned{}
	}
	if len(k.rows) >= mostKept { // of some that others ended
		for id := range k.rows {
			delete(k.rows, id)
			break
		}
	}
	k.rows[row.ID] = row
}

// take returns a row and forgets it.
func (k *leaseRows) take(id uuid.UUID) (versioned, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	row, ok := k.rows[id]
	delete(k.rows, id)
	return row, ok
}
