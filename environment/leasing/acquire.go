package leasing

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"berth/environment"
	"berth/environment/crew"

	"github.com/google/uuid"
)

// Request is what a lease is wanted for.
type Request struct {
	CompanyID     uuid.UUID
	EnvironmentID uuid.UUID
	RunID         *uuid.UUID
	OwnerKind     string // "run"
	Spec          environment.Spec

	EnvironmentName string
	AgentID         *uuid.UUID
	WorkspaceID     *uuid.UUID
	AdapterType     *string
	// Fresh allocates anew whatever the policy: nothing is resumed and nothing
	// published for reuse.
	Fresh bool
	// Fingerprint is Fingerprints.Reuse of the environment. Nothing is reused
	// without it.
	Fingerprint string
	// Expires is when the lease ends even if it is beaten for; nil: never.
	Expires *time.Time
}

// Acquire writes the intent row, asks the driver, and stores what it got. The
// returned Ref has its Spec. From then on the lease is beaten for, until Finish or
// LetGo.
//
// Where the policy says so, a stopped sandbox of the same scope is resumed, and
// made anew only when the driver proves that it is gone; all of it has one
// deadline. KindConflict with code lease_in_use when the scope has a holder.
//
// When the driver fails the row ends failed with the driver's code as its reason,
// and the driver's error is returned. What it may have made for a sandbox is
// released first; while that is not known to have gone through, the row is
// pending_cleanup and the error has the detail cleanup: "queued".
func (s *Service) Acquire(ctx context.Context, r Request) (environment.Lease, environment.Ref, error) {
	lease, err := s.intent(r)
	if err != nil {
		return environment.Lease{}, environment.Ref{}, err
	}
	r.Spec.CompanyID, r.Spec.RunID, r.Spec.OwnerKind = &r.CompanyID, r.RunID, r.OwnerKind
	r.Spec.IdempotencyKey, r.Spec.InstanceID = lease.ID.String(), s.opts.InstanceID
	active, ref, err := s.acquire(ctx, lease, r.Spec, r.Expires)
	if err != nil {
		s.LetGo(lease.ID)
		return active, environment.Ref{}, err
	}
	return active, ref, nil
}

func (s *Service) acquire(ctx context.Context, lease environment.Lease, spec environment.Spec, expires *time.Time) (environment.Lease, environment.Ref, error) {
	if err := s.create(ctx, lease); err != nil {
		if crew.Transient(err) { // it may be there
			s.strand(lease.ID, ending{outcome: environment.LeaseFailed, reason: reasonOf(ctx, lease, err)})
		}
		return environment.Lease{}, environment.Ref{}, fmt.Errorf("write the lease: %w", err)
	}
	s.hold(lease.ID, expires)
	driver, ok := s.drivers.Driver(spec.Key())
	if !ok {
		err := environment.NotInstalled(spec.Key())
		return s.failed(ctx, lease, err), environment.Ref{}, err
	}
	limited, cancel := s.limit(ctx, driver, spec)
	defer cancel()
	if lease.ScopeKey != nil {
		active, ref, err := s.pickUp(ctx, limited, driver, &lease, spec)
		if err != nil || ref.ProviderID != "" {
			return active, ref, err
		}
	}
	return s.build(ctx, limited, driver, lease, spec)
}

// limit is the one deadline of an acquisition, whatever is tried in it.
func (s *Service) limit(ctx context.Context, driver environment.Driver, spec environment.Spec) (context.Context, context.CancelFunc) {
	limit := budgetOf(driver, spec.Config)
	return context.WithTimeoutCause(ctx, limit, lateAfter(limit))
}

// budgetOf is how long a driver may take to make a target usable.
func budgetOf(driver environment.Driver, config json.RawMessage) time.Duration {
	b, ok := driver.(environment.Budgeter)
	if !ok {
		return AcquireLimit
	}
	budget := b.StartupBudget(config)
	if budget <= 0 {
		budget = environment.DefaultStartupBudget
	}
	return min(budget, environment.MaxStartupBudget)
}

func lateAfter(limit time.Duration) *environment.Error {
	return environment.NewError(environment.KindTimeout, environment.CodeTimedOut,
		"The target was not ready within "+limit.String()+".").Remedy(environment.Remedy(environment.CodeConnectTimeout))
}

// intent is the row that says what is about to be asked for.
func (s *Service) intent(r Request) (environment.Lease, error) {
	now, key := s.now(), r.Spec.Key()
	l := environment.Lease{
		ID: environment.NewID(), CompanyID: r.CompanyID, EnvironmentID: &r.EnvironmentID, RunID: r.RunID,
		OwnerKind: r.OwnerKind, Status: environment.LeaseAcquiring, Policy: environment.PolicyEphemeral,
		Driver: key.Driver, Provider: cmp.Or(key.Provider, key.Driver), AcquiredAt: now, LastUsedAt: now, HeartbeatAt: now,
		TTLSec: ttlUntil(now, r.Expires), RetainSec: int(environment.RetainedFor.Seconds()),
		EnvironmentName: r.EnvironmentName, AgentID: r.AgentID, WorkspaceID: r.WorkspaceID, AdapterType: r.AdapterType,
		Owner: s.owner, CreatedAt: now, UpdatedAt: now,
	}
	if l.Borrowed() {
		return l, nil
	}
	rules := environment.LeaseRulesOf(r.Spec.Config)
	l.RetainSec = int(rules.Retain.Seconds())
	if !r.Fresh && (!rules.Policy.Reuses() || s.reusable(r)) {
		l.Policy = rules.Policy
	}
	if l.Policy.Reuses() {
		l.ScopeKey = new(scopeKey(r))
	}
	// Enough to find what a server made that dies before it can say so.
	var err error
	l.Ref, err = json.Marshal(environment.Ref{Driver: key.Driver, Provider: key.Provider, Config: r.Spec.Config,
		LeaseKey: l.ID.String(), InstanceID: s.opts.InstanceID})
	if err != nil {
		return l, fmt.Errorf("write down what is asked for: %w", err)
	}
	return l, nil
}

// reusable reports whether what a request gets could be picked up again: its
// driver can, and it is known what of.
func (s *Service) reusable(r Request) bool {
	_, err := environment.Ability[environment.Resumer](s.drivers, r.Spec.Key())
	return err == nil && r.Fingerprint != ""
}

// create inserts the row; a second try first looks whether the first one got
// through without its answer coming back.
func (s *Service) create(ctx context.Context, lease environment.Lease) error {
	tried := false
	return crew.Retry(ctx, crew.Transient, func(ctx context.Context) error {
		if tried {
			if _, err := s.store.Lease(ctx, lease.ID); environment.KindOf(err) != environment.KindNotFound {
				return err
			}
		}
		tried = true
		return s.store.CreateLease(ctx, lease)
	})
}

// Ref loads the Ref of a lease for work that goes on after a restart.
// KindConflict with code lease_not_ready when nothing was acquired yet.
func (s *Service) Ref(l environment.Lease, spec environment.Spec) (environment.Ref, error) {
	ref, err := refOf(l)
	if err == nil && ref.ProviderID == "" && !l.Borrowed() {
		err = errNotReady
	}
	ref.Spec = spec
	return ref, err
}

var errNotReady = environment.Conflict("lease_not_ready", "The lease holds nothing yet.")

// refOf reads what a lease holds, or would by its label.
func refOf(l environment.Lease) (environment.Ref, error) {
	var ref environment.Ref
	if len(l.Ref) == 0 || string(l.Ref) == "null" {
		return ref, errNotReady
	}
	if err := json.Unmarshal(l.Ref, &ref); err != nil {
		return ref, fmt.Errorf("read what lease %s holds: %w", l.ID, err)
	}
	return ref, nil
}
