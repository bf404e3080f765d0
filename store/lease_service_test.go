package store_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/catalogue"
	"berth/environment/leasing"
	"berth/store"
	"berth/store/storetest"

	"github.com/google/uuid"
)

// shelf is a provider that keeps sandboxes by their labels.
type shelf struct {
	mu      sync.Mutex
	objects map[string]bool // running, by the lease that made it
	torn    []string        // stopped or destroyed while it was in use
	users   map[string]int
}

func (*shelf) Name() string     { return environment.DriverSandbox }
func (*shelf) Provider() string { return environment.ProviderDocker }

func (s *shelf) Acquire(_ context.Context, spec environment.Spec) (environment.Ref, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[spec.IdempotencyKey] = true
	return environment.Ref{ProviderID: spec.IdempotencyKey}, nil
}

func (s *shelf) Resume(_ context.Context, ref environment.Ref, _ environment.Spec) (environment.Ref, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.objects[ref.ProviderID]; !ok {
		return ref, environment.NewError(environment.KindNotFound, environment.CodeSandboxGone, "There is no such sandbox.")
	}
	s.objects[ref.ProviderID] = true
	return ref, nil
}

func (s *shelf) Release(_ context.Context, ref environment.Ref, how environment.Disposition) (environment.Receipt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users[ref.ProviderID] > 0 {
		s.torn = append(s.torn, ref.ProviderID)
	}
	if how == environment.StopAndRetain {
		s.objects[ref.ProviderID] = false
		return environment.Receipt{Outcome: "stopped", ProviderID: ref.ProviderID}, nil
	}
	delete(s.objects, ref.ProviderID)
	return environment.Receipt{Outcome: "destroyed", ProviderID: ref.ProviderID}, nil
}

// use counts who works in a sandbox; more than one is one too many.
func (s *shelf) use(id string, by int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[id] += by
	return s.users[id]
}

func (s *shelf) Driver(key environment.DriverKey) (environment.Driver, bool) {
	return s, key.Provider == environment.ProviderDocker
}
func (*shelf) Capabilities() []environment.Capabilities { return nil }

// Two servers give out leases of a few scopes to many at once: a sandbox has one
// user at a time, and in the end there is what rows name.
func TestLeasing_twoServersOnOneDatabase(t *testing.T) {
	db, ctx := storetest.New(t), t.Context()
	company := environment.Company{ID: environment.NewID(), Name: "acme"}
	if err := db.CreateCompany(ctx, company, environment.Activity{}); err != nil {
		t.Fatal(err)
	}
	box, err := db.CreateEnvironment(ctx, catalogue.Write{Environment: environment.Environment{ID: environment.NewID(), Name: "box",
		Driver: environment.DriverSandbox, Status: environment.StatusActive, Config: []byte(`{"provider":"docker","reuseLease":true}`)}})
	if err != nil {
		t.Fatal(err)
	}
	world := &shelf{objects: map[string]bool{}, users: map[string]int{}}
	servers := []*leasing.Service{leaseServer(t, db, world), leaseServer(t, db, world)}
	agents := []uuid.UUID{environment.NewID(), environment.NewID(), environment.NewID()}
	var group sync.WaitGroup
	for worker := range 12 {
		group.Go(func() {
			for turn := range 12 {
				s := servers[(worker+turn)%2]
				l, ref, err := s.Acquire(ctx, leasing.Request{CompanyID: company.ID, EnvironmentID: box.ID, AgentID: &agents[(worker*turn)%3],
					OwnerKind: environment.OwnerOperator, Fingerprint: "f", Spec: environment.Spec{EnvironmentID: box.ID, Driver: box.Driver, Config: box.Config}})
				if err != nil {
					if environment.CodeOf(err) != environment.CodeLeaseInUse {
						t.Errorf("acquire: %v", err)
					}
					continue
				}
				if n := world.use(ref.ProviderID, 1); n != 1 {
					t.Errorf("%d use one sandbox", n)
				}
				world.use(ref.ProviderID, -1)
				outcome := []environment.LeaseStatus{environment.LeaseReleased, environment.LeaseReleased, environment.LeaseExpired}[turn%3]
				if _, err := s.Finish(ctx, l.ID, environment.Spec{}, outcome, ""); err != nil {
					t.Errorf("finish: %v", err)
				}
			}
		})
	}
	group.Wait()
	checkShelf(t, db, world)
	kept, err := db.Leases(ctx, leasing.Filter{Status: environment.LeaseRetained})
	if err != nil || len(kept.Items) == 0 {
		t.Fatalf("%d are kept, %v: the test proves little", len(kept.Items), err)
	}
	for _, l := range kept.Items {
		if got, err := servers[0].Destroy(ctx, environment.LocalOperator(), l.ID); err != nil || got.Status != environment.LeaseExpired {
			t.Errorf("destroy: %s, %v", got.Status, err)
		}
	}
	checkShelf(t, db, world)
	if len(world.objects) > 0 || len(world.torn) > 0 {
		t.Errorf("left: %v, taken from a user: %v", world.objects, world.torn)
	}
}

func leaseServer(t *testing.T, db *store.DB, world *shelf) *leasing.Service {
	t.Helper()
	owner := environment.NewID()
	if err := db.RegisterServer(t.Context(), owner, environment.NewID(), "test"); err != nil {
		t.Fatal(err)
	}
	return leasing.New(db, nil, world, leasing.Options{Owner: owner, InstanceID: environment.NewID()}, time.Now, slog.New(slog.DiscardHandler))
}

// checkShelf compares what there is with what rows name.
func checkShelf(t *testing.T, db *store.DB, world *shelf) {
	t.Helper()
	held, err := db.Leases(t.Context(), leasing.Filter{Held: true, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range held.Items {
		running, there := world.objects[*l.ProviderID]
		if l.Status != environment.LeaseRetained || !there || running {
			t.Errorf("lease %s is %s; its sandbox is there: %v, running: %v", l.ID, l.Status, there, running)
		}
	}
	if len(held.Items) != len(world.objects) {
		t.Errorf("rows hold %d, the provider %d", len(held.Items), len(world.objects))
	}
}
