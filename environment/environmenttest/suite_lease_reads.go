package environmenttest

import (
	"fmt"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/leasing"

	"github.com/google/uuid"
)

func leaseIDs(leases []environment.Lease) map[uuid.UUID]bool {
	found := map[uuid.UUID]bool{}
	for _, l := range leases {
		found[l.ID] = true
	}
	return found
}

func setOf(leases ...environment.Lease) map[uuid.UUID]bool { return leaseIDs(leases) }

func testLeaseReads(t *testing.T, s suite) {
	ctx := t.Context()
	c, e := s.company("acme"), s.environment("box")
	ssh := s.lease(c, e, nil)
	s.hold(ssh.ID, environment.LeaseActive)
	acquiring, active := s.made(c, e, nil), s.made(c, e, func(l *environment.Lease) { l.OwnerKind = environment.OwnerProbe })
	s.hold(active.ID, environment.LeaseActive)
	fake := s.made(c, e, func(l *environment.Lease) { l.Provider = environment.ProviderFake })
	s.hold(fake.ID, environment.LeaseActive)
	kept, waiting, over := s.retained(c, e, nil), s.made(c, e, nil), s.made(c, e, nil)
	dead := moment(1)
	_, err := s.UpdateLease(ctx, waiting.ID, func(l *environment.Lease) error {
		l.Status, l.DeadLetterAt = environment.LeasePendingCleanup, &dead
		return nil
	}, nil)
	s.must(err)
	s.hold(over.ID, environment.LeaseFailed)

	got, err := s.LeasesByID(ctx, []uuid.UUID{over.ID, environment.NewID(), active.ID})
	s.must(err)
	same(t, "leases by id", leaseIDs(got), setOf(over, active))
	got, err = s.LeasesByID(ctx, nil)
	s.must(err)
	same(t, "leases by no id", len(got), 0)
	for key, want := range map[environment.DriverKey]map[uuid.UUID]bool{
		environment.KeyOf(environment.DriverSandbox, environment.ProviderDocker): setOf(active, kept, waiting),
		environment.KeyOf(environment.DriverSandbox, environment.ProviderFake):   setOf(fake),
		environment.KeyOf(environment.DriverSSH, ""):                             setOf(ssh),
		environment.KeyOf(environment.DriverPlugin, ""):                          {},
	} {
		got, err := s.HeldLeases(ctx, key)
		s.must(err)
		same(t, "held by "+key.String(), leaseIDs(got), want)
	}
	for name, f := range map[string]struct {
		filter leasing.Filter
		want   map[uuid.UUID]bool
	}{
		"of probes":    {leasing.Filter{OwnerKind: environment.OwnerProbe}, setOf(active)},
		"that hold":    {leasing.Filter{Held: true}, setOf(ssh, acquiring, active, fake, kept, waiting)},
		"dead letters": {leasing.Filter{DeadLetter: true}, setOf(waiting)},
		"of a driver":  {leasing.Filter{Driver: environment.KeyOf(environment.DriverSandbox, environment.ProviderFake)}, setOf(fake)},
		"of ssh":       {leasing.Filter{Driver: environment.KeyOf(environment.DriverSSH, "")}, setOf(ssh)},
		"held of a driver and a kind": {leasing.Filter{Held: true, OwnerKind: environment.OwnerRun, Companies: []uuid.UUID{c.ID},
			Driver: environment.KeyOf(environment.DriverSandbox, environment.ProviderDocker)}, setOf(acquiring, kept, waiting)},
	} {
		found := map[uuid.UUID]bool{}
		f.filter.Limit = 2
		for {
			page, err := s.Leases(ctx, f.filter)
			s.must(err)
			for id := range leaseIDs(page.Items) {
				found[id] = true
			}
			if f.filter.Cursor = page.Next; page.Next == "" {
				break
			}
		}
		same(t, "leases "+name, found, f.want)
	}
}

func testRetained(t *testing.T, s suite) {
	c, e := s.company("acme"), s.environment("box")
	agent, workspace := environment.NewID(), environment.NewID()
	plain := s.retained(c, e, nil)
	later := s.retained(c, e, func(l *environment.Lease) { l.LastUsedAt = moment(9) })
	ofAgent := s.retained(c, e, func(l *environment.Lease) { l.AgentID, l.WorkspaceID = &agent, &workspace })
	s.retained(c, s.environment("other"), nil)
	s.retained(s.company("globex"), e, nil)
	s.hold(s.made(c, e, nil).ID, environment.LeaseActive)
	for name, x := range map[string]struct {
		agent, workspace *uuid.UUID
		want             []uuid.UUID
	}{
		"of nobody":               {nil, nil, []uuid.UUID{later.ID, plain.ID}},
		"of an agent's workspace": {&agent, &workspace, []uuid.UUID{ofAgent.ID}},
		"of an agent":             {&agent, nil, nil},
		"of a workspace":          {nil, &workspace, nil},
		"of another":              {&workspace, &agent, nil},
	} {
		got, err := s.Retained(t.Context(), leasing.Scope{EnvironmentID: e.ID, CompanyID: c.ID, AgentID: x.agent, WorkspaceID: x.workspace})
		s.must(err)
		var ids []uuid.UUID
		for _, l := range got {
			ids = append(ids, l.ID)
		}
		same(t, "kept sandboxes "+name, ids, x.want)
	}
}

func testSources(t *testing.T, s suite) {
	ctx := t.Context()
	c := s.company("acme")
	s.environment("no sandbox")
	config := func(image string) string { return fmt.Sprintf(`{"image":%q,"provider":"docker"}`, image) }
	w := write("box")
	w.Environment.Driver, w.Environment.Config = environment.DriverSandbox, []byte(config("a"))
	e, err := s.CreateEnvironment(ctx, w)
	s.must(err)
	lease := func(image string, at int, states ...environment.LeaseStatus) {
		l := s.made(c, e, func(l *environment.Lease) {
			l.LastUsedAt = time.Now().UTC().AddDate(0, 0, -at)
			if image != "" {
				l.Ref = []byte(`{"providerId":"x","config":` + config(image) + `}`)
			}
		})
		s.hold(l.ID, states...)
	}
	lease("", 0)
	lease("a", 0, environment.LeaseFailed)
	lease("b", 30, environment.LeasePendingCleanup)
	lease("b", 0, environment.LeaseFailed)
	lease("c", 6, environment.LeaseFailed)
	lease("d", 8, environment.LeaseFailed)
	lease("e", 8, environment.LeaseActive, environment.LeaseReleasing, environment.LeaseRetained)
	got, err := s.Sources(ctx)
	s.must(err)
	found := map[string]bool{}
	for _, x := range got {
		same(t, "driver of a source", x.Driver, environment.DriverSandbox)
		for _, image := range []string{"a", "b", "c", "d", "e"} {
			if string(canonical(x.Config)) != string(canonical([]byte(config(image)))) {
				continue
			}
			if found[image] {
				t.Errorf("source of image %s is there twice", image)
			}
			found[image] = true
			same(t, "company of the source of image "+image, x.CompanyID == nil, image == "a")
			same(t, "environment of the source of image "+image, x.EnvironmentID, &e.ID)
		}
	}
	same(t, "sources", found, map[string]bool{"a": true, "b": true, "c": true, "e": true})
	same(t, "number of sources", len(got), 4)
}
