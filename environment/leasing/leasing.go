// Package leasing gives out and takes back the right to use a live target.
package leasing

import (
	"context"
	"log/slog"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// Store is what leasing needs of the database; each method is one transaction.
type Store interface {
	// Run is KindNotFound with code run_not_found.
	Run(context.Context, uuid.UUID) (environment.Run, error)
	CreateLease(context.Context, environment.Lease) error
	// UpdateLease locks the row, lets change alter it, and stores it. A status
	// that the old one cannot become is KindConflict with code
	// lease_state_changed. activity nil writes none.
	UpdateLease(ctx context.Context, id uuid.UUID, change func(*environment.Lease) error, activity *environment.Activity) (environment.Lease, error)
	// Lease is KindNotFound with code lease_not_found.
	Lease(context.Context, uuid.UUID) (environment.Lease, error)
	Leases(context.Context, Filter) (environment.Page[environment.Lease], error)
	// OrphanedLeases takes over (sets Owner to owner) the leases that hold
	// something, whose server is dead, and whose run has ended or is none.
	OrphanedLeases(ctx context.Context, owner uuid.UUID, limit int) ([]environment.Lease, error)
}

// Filter narrows a list of leases; newest use first.
type Filter struct {
	EnvironmentID *uuid.UUID
	CompanyID     *uuid.UUID
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
}

// New returns the service.
func New(store Store, drivers environment.Drivers, owner uuid.UUID, now func() time.Time, log *slog.Logger) *Service {
	return &Service{store: store, drivers: drivers, owner: owner, now: now, log: log}
}

// Request is what a lease is wanted for.
type Request struct {
	CompanyID     uuid.UUID
	EnvironmentID uuid.UUID
	RunID         *uuid.UUID
	OwnerKind     string // "run"
	Spec          environment.Spec
}

// Acquire writes the intent row, asks the driver, and stores what it got. The
// returned Ref has its Spec. When the driver fails the row ends failed with the
// driver's code as its reason, and the driver's error is returned.
func (s *Service) Acquire(ctx context.Context, r Request) (environment.Lease, environment.Ref, error) {
	panic("unwritten")
}

// Ref loads the Ref of a lease for work that goes on after a restart.
func (s *Service) Ref(l environment.Lease, spec environment.Spec) (environment.Ref, error) {
	panic("unwritten")
}

// Finish releases a lease after its work: status releasing, the driver's
// Release with a deadline outside any transaction, then outcome (released,
// failed, expired) with the receipt; pending_cleanup when the driver failed.
func (s *Service) Finish(ctx context.Context, id uuid.UUID, spec environment.Spec, outcome environment.LeaseStatus, reason string) (environment.Lease, error) {
	panic("unwritten")
}

// Release is an operator's release of a lease. A lease whose run is under way
// is KindConflict with code lease_in_use.
func (s *Service) Release(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Lease, error) {
	panic("unwritten")
}

func (s *Service) Get(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Lease, error) {
	panic("unwritten")
}

func (s *Service) List(ctx context.Context, actor environment.Actor, f Filter) (environment.Page[environment.Lease], error) {
	panic("unwritten")
}

// Run sweeps what dead servers left until ctx ends.
func (s *Service) Run(ctx context.Context) error { panic("unwritten") }
