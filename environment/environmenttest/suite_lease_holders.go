package environmenttest

import (
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// sandboxLease stores a lease of a sandbox that is being acquired, with a change.
func (s suite) sandboxLease(c environment.Company, e environment.Environment, change func(*environment.Lease)) (environment.Lease, error) {
	l := environment.Lease{ID: environment.NewID(), CompanyID: c.ID, EnvironmentID: &e.ID, EnvironmentName: e.Name, OwnerKind: environment.OwnerRun,
		Status: environment.LeaseAcquiring, Policy: environment.PolicyEphemeral, Driver: environment.DriverSandbox, Provider: environment.ProviderDocker,
		Owner: s.server, TTLSec: 120, RetainSec: 3600, AcquiredAt: moment(4), LastUsedAt: moment(4), CreatedAt: moment(4), UpdatedAt: moment(4)}
	if change != nil {
		change(&l)
	}
	return l, s.CreateLease(s.t.Context(), l)
}

// made is sandboxLease that goes through.
func (s suite) made(c environment.Company, e environment.Environment, change func(*environment.Lease)) environment.Lease {
	s.t.Helper()
	l, err := s.sandboxLease(c, e, change)
	s.must(err)
	return l
}

// retained stores a lease of a sandbox that is retained.
func (s suite) retained(c environment.Company, e environment.Environment, change func(*environment.Lease)) environment.Lease {
	s.t.Helper()
	return s.hold(s.made(c, e, change).ID, environment.LeaseActive, environment.LeaseReleasing, environment.LeaseRetained)
}

// status reads a lease's status.
func (s suite) status(id uuid.UUID) environment.LeaseStatus {
	s.t.Helper()
	l, err := s.Lease(s.t.Context(), id)
	s.must(err)
	return l.Status
}

// atOnce does n things at the same time and returns how many went through; the
// others are to be refused with that code.
func (s suite) atOnce(n int, code string, do func(i int) error) int {
	s.t.Helper()
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = do(i) })
	}
	all.Wait()
	through := 0
	for i, err := range errs {
		if err == nil {
			through++
			continue
		}
		s.code(fmt.Sprintf("one of %d at once, %d", n, i), err, environment.KindConflict, code)
	}
	return through
}

// testLeaseFields stores a lease with a value in every field, at its creation and
// at a change, and reads it back.
func testLeaseFields(t *testing.T, s suite) {
	c, e := s.company("acme"), s.environment("box")
	fill := func(l *environment.Lease, n int) {
		v := reflect.ValueOf(l).Elem()
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			switch f := v.Field(i).Addr().Interface().(type) {
			case **string:
				text := fmt.Sprint(name, " ", n)
				*f = &text
			case **time.Time:
				at := moment(100*n + i)
				*f = &at
			case **uuid.UUID:
				if id := environment.NewID(); name != "EnvironmentID" {
					*f = &id
				}
			case *int:
				*f = 1000*n + i
			}
		}
		l.OwnerKind, l.CleanupOutcome, l.EnvironmentName = fmt.Sprint("kind ", n), environment.LeaseExpired, fmt.Sprint("name ", n)
		l.Ref, l.Receipt, l.Metadata = []byte(fmt.Sprintf(`{"n":%d}`, n)), []byte(fmt.Sprintf(`{"r":%d}`, n)), []byte(fmt.Sprintf(`{"m":%d}`, n))
	}
	read := func(what string, id uuid.UUID, want environment.Lease) {
		t.Helper()
		got, err := s.Lease(t.Context(), id)
		s.must(err)
		sameJSON(t, what+": ref", got.Ref, want.Ref)
		sameJSON(t, what+": receipt", got.Receipt, want.Receipt)
		sameJSON(t, what+": metadata", got.Metadata, want.Metadata)
		got.Ref, got.Receipt, got.Metadata = want.Ref, want.Receipt, want.Metadata
		got.HeartbeatAt, got.ExpiresAt, got.UpdatedAt = want.HeartbeatAt, want.ExpiresAt, want.UpdatedAt // by the store's clock
		same(t, what, got, want)
	}
	l := s.made(c, e, func(l *environment.Lease) { fill(l, 1) })
	read("a created lease", l.ID, l)
	changed, err := s.UpdateLease(t.Context(), l.ID, func(l *environment.Lease) error {
		fill(l, 2)
		l.Status, l.Policy, l.Owner = environment.LeaseActive, environment.PolicyRetainOnFailure, environment.NewID()
		l.AcquiredAt, l.LastUsedAt = moment(8), moment(9)
		return nil
	}, nil)
	s.must(err)
	read("a changed lease", l.ID, changed)
	if changed.Metadata == nil || changed.TTLSec < 2000 || !changed.AcquiredAt.Equal(moment(8)) {
		t.Errorf("a changed lease: got %+v", changed)
	}
}

func testOneLeaseOfAScope(t *testing.T, s suite) {
	c, e := s.company("acme"), s.environment("box")
	scope := "scope"
	of := func(l *environment.Lease) { l.ScopeKey = &scope }
	through := s.atOnce(20, environment.CodeLeaseInUse, func(int) error { _, err := s.sandboxLease(c, e, of); return err })
	same(t, "leases of one scope that were created", through, 1)
	s.made(c, e, nil)
	other := "another"
	s.made(c, e, func(l *environment.Lease) { l.ScopeKey = &other })
	page, err := s.Leases(t.Context(), leasesOf(e))
	s.must(err)
	same(t, "leases", len(page.Items), 3)
	for _, l := range page.Items {
		if l.ScopeKey == nil || *l.ScopeKey != scope {
			continue
		}
		for _, next := range []environment.LeaseStatus{environment.LeaseActive, environment.LeaseReleasing} {
			s.hold(l.ID, next)
			_, err := s.sandboxLease(c, e, of)
			s.code("create beside one that is "+string(next), err, environment.KindConflict, environment.CodeLeaseInUse)
		}
		s.hold(l.ID, environment.LeaseRetained)
	}
	s.made(c, e, of)
}

func testOneHolderOfAnObject(t *testing.T, s suite) {
	c, e := s.company("acme"), s.environment("box")
	object, other := "unix:///var/run/docker.sock abc", "another"
	take := func(id uuid.UUID, key string) error {
		_, err := s.UpdateLease(t.Context(), id, func(l *environment.Lease) error {
			l.Status, l.ObjectKey = environment.LeaseActive, &key
			return nil
		}, &environment.Activity{Action: "environment.lease_acquired", EntityType: "environment_lease", EntityID: "x"})
		return err
	}
	leases := make([]environment.Lease, 8)
	for i := range leases {
		leases[i] = s.made(c, e, nil)
	}
	through := s.atOnce(len(leases), environment.CodeLeaseInUse, func(i int) error { return take(leases[i].ID, object) })
	same(t, "leases that hold one object", through, 1)
	var holder uuid.UUID
	for _, l := range leases {
		if s.status(l.ID) == environment.LeaseActive {
			holder = l.ID
		}
	}
	s.must(take(s.made(c, e, nil).ID, other))
	log, err := s.Activity(t.Context(), environment.ActivityFilter{EntityType: "environment_lease", EntityID: "x"})
	s.must(err)
	same(t, "entries of the log of those that went through", len(log.Items), 2)
	s.hold(holder, environment.LeaseReleasing)
	next := s.made(c, e, nil)
	s.code("take what is being released", take(next.ID, object), environment.KindConflict, environment.CodeLeaseInUse)
	s.hold(holder, environment.LeaseReleased)
	s.must(take(next.ID, object))
}

func testOneResumer(t *testing.T, s suite) {
	c, e := s.company("acme"), s.environment("box")
	kept := s.retained(c, e, nil)
	resume := func(l *environment.Lease) { l.Resumes = &kept.ID }
	through := s.atOnce(10, environment.CodeLeaseInUse, func(int) error { _, err := s.sandboxLease(c, e, resume); return err })
	same(t, "leases that resume one", through, 1)
	page, err := s.Leases(t.Context(), leasesOf(e))
	s.must(err)
	for _, l := range page.Items {
		if l.Resumes != nil {
			s.hold(l.ID, environment.LeaseFailed)
		}
	}
	s.made(c, e, resume)
	same(t, "what was to be resumed", s.status(kept.ID), environment.LeaseRetained)
}

func testTwoWriters(t *testing.T, s suite) {
	c, e := s.company("acme"), s.environment("box")
	l := s.made(c, e, nil)
	through := s.atOnce(20, "", func(int) error {
		_, err := s.UpdateLease(t.Context(), l.ID, func(l *environment.Lease) error { l.CleanupAttempts++; return nil }, nil)
		return err
	})
	same(t, "changes of one row", through, 20)
	got, err := s.Lease(t.Context(), l.ID)
	s.must(err)
	same(t, "changes that are stored", got.CleanupAttempts, 20)
	s.hold(l.ID, environment.LeaseActive)
	through = s.atOnce(20, "not_active", func(int) error {
		_, err := s.UpdateLease(t.Context(), l.ID, func(l *environment.Lease) error {
			if l.Status != environment.LeaseActive {
				return environment.Conflict("not_active", "It is "+string(l.Status)+".")
			}
			l.Status = environment.LeaseReleasing
			return nil
		}, &environment.Activity{Action: "environment.lease_releasing", EntityType: "environment_lease", EntityID: l.ID.String()})
		return err
	})
	same(t, "moves to releasing", through, 1)
	log, err := s.Activity(t.Context(), environment.ActivityFilter{EntityType: "environment_lease", EntityID: l.ID.String()})
	s.must(err)
	same(t, "entries of the log", len(log.Items), 1)
}

func testHandOver(t *testing.T, s suite) {
	ctx := t.Context()
	c, e := s.company("acme"), s.environment("box")
	object, scope := "object", "scope"
	kept := s.retained(c, e, func(l *environment.Lease) {
		l.ScopeKey, l.ObjectKey, l.Metadata = &scope, &object, []byte(`{"a":1}`)
	})
	taker := s.made(c, e, func(l *environment.Lease) { l.ScopeKey, l.Resumes = &scope, &kept.ID })
	resumed := environment.AcquisitionResumed
	activate := func(l *environment.Lease) error {
		l.Status, l.ObjectKey, l.Acquisition, l.Ref = environment.LeaseActive, &object, &resumed, []byte(`{"providerId":"abc"}`)
		return nil
	}
	entry := environment.Activity{Action: "environment.lease_acquired", EntityType: "environment_lease", EntityID: taker.ID.String()}
	for _, wrong := range []struct {
		name     string
		from, to uuid.UUID
	}{{"from one that acquires", taker.ID, taker.ID}, {"to one that is kept", kept.ID, kept.ID}} {
		_, err := s.HandOver(ctx, wrong.from, wrong.to, activate, nil)
		s.code("hand over "+wrong.name, err, environment.KindConflict, "lease_state_changed")
	}
	_, err := s.HandOver(ctx, kept.ID, environment.NewID(), activate, nil)
	s.code("hand over to what is not there", err, environment.KindNotFound, "lease_not_found")
	refused := environment.Conflict("refused", "No.")
	_, err = s.HandOver(ctx, kept.ID, taker.ID, func(*environment.Lease) error { return refused }, &entry)
	s.code("a change that refuses", err, environment.KindConflict, "refused")
	same(t, "what is kept after a refusal", s.status(kept.ID), environment.LeaseRetained)
	got, err := s.HandOver(ctx, kept.ID, taker.ID, activate, &entry)
	s.must(err)
	if got.Status != environment.LeaseActive || got.ID != taker.ID || got.Acquisition == nil || *got.Acquisition != resumed || got.ExpiresAt == nil {
		t.Errorf("the new holder: got %+v", got)
	}
	old, err := s.Lease(ctx, kept.ID)
	s.must(err)
	if old.Status != environment.LeaseReleased || old.CleanupStatus != nil || old.ReleasedAt == nil {
		t.Errorf("the holder of before: got %+v", old)
	}
	sameJSON(t, "its metadata", old.Metadata, []byte(`{"a":1}`))
	log, err := s.Activity(ctx, environment.ActivityFilter{EntityType: "environment_lease", EntityID: taker.ID.String()})
	s.must(err)
	same(t, "entries of the log", len(log.Items), 1)
}

// testHandOverRaces lets a sweep that ends what is kept race with a resume.
func testHandOverRaces(t *testing.T, s suite) {
	c, e := s.company("acme"), s.environment("box")
	for range 10 {
		kept := s.retained(c, e, nil)
		taker := s.made(c, e, func(l *environment.Lease) { l.Resumes = &kept.ID })
		through := s.atOnce(2, "lease_state_changed", func(i int) error {
			if i == 0 {
				_, err := s.HandOver(t.Context(), kept.ID, taker.ID, func(l *environment.Lease) error { l.Status = environment.LeaseActive; return nil }, nil)
				return err
			}
			_, err := s.UpdateLease(t.Context(), kept.ID, func(l *environment.Lease) error {
				if l.Status != environment.LeaseRetained {
					return environment.LeaseStateChanged(l.Status, environment.LeaseReleasing)
				}
				l.Status = environment.LeaseReleasing
				return nil
			}, nil)
			return err
		})
		same(t, "of a resume and a sweep", through, 1)
		states := [2]environment.LeaseStatus{s.status(kept.ID), s.status(taker.ID)}
		if states != [2]environment.LeaseStatus{environment.LeaseReleased, environment.LeaseActive} &&
			states != [2]environment.LeaseStatus{environment.LeaseReleasing, environment.LeaseAcquiring} {
			t.Errorf("after a race of a resume and a sweep: got %v", states)
		}
	}
}
