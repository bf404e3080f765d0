// Package leasing gives out and takes back the right to use a live target.
package leasing

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"berth/environment"
	"berth/environment/crew"

	"github.com/google/uuid"
)

// Store is what leasing needs of the database; each method is one transaction.
type Store interface {
	// Run is KindNotFound with code run_not_found.
	Run(context.Context, uuid.UUID) (environment.Run, error)
	CreateLease(context.Context, environment.Lease) error
	// UpdateLease locks the row, lets change alter it, and stores it. A status
	// that the old one cannot become is KindConflict with code
	// lease_state_changed. activity, which change may still fill in, is written with
	// it; nil, and one without an action, is none.
	UpdateLease(ctx context.Context, id uuid.UUID, change func(*environment.Lease) error, activity *environment.Activity) (environment.Lease, error)
	// Lease is KindNotFound with code lease_not_found.
	Lease(context.Context, uuid.UUID) (environment.Lease, error)
	Leases(context.Context, Filter) (environment.Page[environment.Lease], error)
	// OrphanedLeases takes over (sets Owner to owner) the leases that hold
	// something, whose server is dead, and whose run has ended or is none. Those
	// of owner, who asks and so lives, are not among them.
	OrphanedLeases(ctx context.Context, owner uuid.UUID, limit int) ([]environment.Lease, error)
}

// Filter narrows a list of leases; newest use first.
type Filter struct {
	EnvironmentID *uuid.UUID
	CompanyID     *uuid.UUID
	Companies     []uuid.UUID // leases of these; nil: of all
	Status        environment.LeaseStatus
	Limit         int
	Cursor        string
}

// Service gives out leases.
type Service struct {
	store   Store
	drivers environment.Drivers
	owner   uuid.UUID
	now     func() time.Time
	log     *slog.Logger

	mu sync.Mutex
	// stranded are leases of which nothing came and whose rows could not be
	// written then, with the reason. After a restart they are orphans.
	stranded map[uuid.UUID]string
}

// New returns the service.
func New(store Store, drivers environment.Drivers, owner uuid.UUID, now func() time.Time, log *slog.Logger) *Service {
	return &Service{store: store, drivers: drivers, owner: owner, now: now, log: log, stranded: map[uuid.UUID]string{}}
}

// Limits on a driver's part, and how long it may take to return after them.
const (
	AcquireLimit = 30 * time.Second
	ReleaseLimit = 15 * time.Second
	patience     = 2 * time.Second
)

// update changes a lease however long the database is away, until ctx ends.
func (s *Service) update(ctx context.Context, id uuid.UUID, change func(*environment.Lease) error, activity *environment.Activity) (environment.Lease, error) {
	var lease environment.Lease
	err := crew.Retry(ctx, crew.Transient, func(ctx context.Context) (err error) {
		lease, err = s.store.UpdateLease(ctx, id, change, activity)
		return err
	})
	return lease, err
}
