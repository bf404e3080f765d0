package environmenttest

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/running"

	"github.com/google/uuid"
)

func testRunLife(t *testing.T, s suite) {
	ctx := t.Context()
	c, e := s.company("acme"), s.environment("box")
	r := s.run(c, e)
	got, err := s.Run(ctx, r.ID)
	s.must(err)
	same(t, "created run", got, r)
	text, dir, code, signal := "TERM", "/srv/w", 143, "TERM"
	at := moment(5)
	end := at.Add(time.Minute)
	lease := environment.NewID()
	s.move(r.ID, environment.RunAcquiring, environment.RunPreparing)
	want, err := s.UpdateRun(ctx, r.ID, s.server, func(r *environment.Run) error {
		r.Status, r.WorkingDir, r.StartedAt, r.Deadline, r.LeaseID, r.Input = environment.RunRunning, &dir, &at, &end, &lease, nil
		r.Host, r.Process = &environment.HostFacts{Name: "h", BootID: "b"}, &environment.Process{BootID: "b", Pid: 7, Marker: r.ID.String()}
		r.Phases = append(r.Phases, environment.Phase{Name: "run", StartedAt: at})
		return nil
	})
	s.must(err)
	if want.Status != environment.RunRunning || want.Input != nil || want.Process == nil || len(want.Phases) != 2 {
		t.Errorf("running run: got %+v", want)
	}
	want, err = s.UpdateRun(ctx, r.ID, s.server, func(r *environment.Run) error {
		r.Status, r.ExitCode, r.Signal, r.FinishedAt, r.Termination, r.CancelBy = environment.RunFailed, &code, &signal, &end, "proven", &text
		r.Failure = &environment.Failure{Code: "x", Message: "m", Remediation: "r", Stage: "login"}
		return nil
	})
	s.must(err)
	got, err = s.Run(ctx, r.ID)
	s.must(err)
	same(t, "ended run", got, want)
	events, err := s.Events(ctx, r.ID, 0, 0)
	s.must(err)
	var kinds []environment.EventKind
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	same(t, "events", kinds, []environment.EventKind{"state", "state", "state", "state", "state", "end"})
	var last environment.RunEvent
	s.must(json.Unmarshal(events[len(events)-1].Payload, &last))
	if last.Status != environment.RunFailed || last.ExitCode == nil || *last.ExitCode != 143 {
		t.Errorf("end event: got %+v", last)
	}
	_, err = s.Run(ctx, environment.NewID())
	s.code("read a run that is not there", err, environment.KindNotFound, "run_not_found")
}

func testRunMoves(t *testing.T, s suite) {
	ctx := t.Context()
	r := s.run(s.company("acme"), s.environment("box"))
	_, err := s.UpdateRun(ctx, r.ID, uuid.Nil, func(r *environment.Run) error { r.Status = environment.RunSucceeded; return nil })
	s.code("a move that is none", err, environment.KindConflict, "run_state_changed")
	_, err = s.UpdateRun(ctx, r.ID, environment.NewID(), func(*environment.Run) error { return nil })
	s.code("a change by another server", err, environment.KindConflict, "run_taken_over")
	refusal := errors.New("no")
	_, err = s.UpdateRun(ctx, r.ID, uuid.Nil, func(r *environment.Run) error { r.Status = environment.RunFailed; return refusal })
	if !errors.Is(err, refusal) {
		t.Errorf("a change that refuses: got %v, want its own error", err)
	}
	before, err := s.Events(ctx, r.ID, 0, 0)
	s.must(err)
	unchanged, err := s.UpdateRun(ctx, r.ID, uuid.Nil, func(*environment.Run) error { return nil })
	s.must(err)
	same(t, "a change that changes nothing", unchanged, r)
	after, err := s.Events(ctx, r.ID, 0, 0)
	s.must(err)
	same(t, "events of refused and empty changes", len(after), len(before))
	_, err = s.UpdateRun(ctx, environment.NewID(), uuid.Nil, func(*environment.Run) error { return nil })
	s.code("change a run that is not there", err, environment.KindNotFound, "run_not_found")
	missing := r
	missing.ID, missing.CompanyID = environment.NewID(), environment.NewID()
	s.code("a run of no company", s.CreateRun(ctx, missing, environment.Activity{}), environment.KindNotFound, "company_not_found")
	gone := environment.NewID()
	missing.CompanyID, missing.EnvironmentID = r.CompanyID, &gone
	s.code("a run in no environment", s.CreateRun(ctx, missing, environment.Activity{}), environment.KindNotFound, environment.CodeEnvironmentNotFound)
}

func testRunsListed(t *testing.T, s suite) {
	ctx := t.Context()
	a, b, e := s.company("a"), s.company("b"), s.environment("box")
	mine, others := []uuid.UUID{}, s.run(b, s.environment("other"))
	for range 5 {
		mine = append([]uuid.UUID{s.run(a, e).ID}, mine...)
	}
	s.move(mine[0], environment.RunFailed)
	ids := func(f running.Filter) []uuid.UUID {
		found := []uuid.UUID{}
		for {
			page, err := s.Runs(ctx, f)
			s.must(err)
			for _, r := range page.Items {
				found = append(found, r.ID)
				if r.Input != nil {
					t.Error("a listed run carries its sealed input")
				}
			}
			if f.Cursor = page.Next; f.Cursor == "" {
				return found
			}
		}
	}
	same(t, "runs of a company, newest first, over pages", ids(running.Filter{CompanyID: &a.ID, Limit: 2}), mine)
	same(t, "runs in an environment", ids(running.Filter{EnvironmentID: others.EnvironmentID}), []uuid.UUID{others.ID})
	same(t, "failed runs", ids(running.Filter{Status: environment.RunFailed}), mine[:1])
	same(t, "all runs", len(ids(running.Filter{})), 6)
	odd := s.run(a, e)
	odd.ID, odd.Title, odd.Command = environment.NewID(), new("Größe 100%"), []string{"Make", "deploy_it", strings.Repeat("x", 5000)}
	s.must(s.CreateRun(ctx, odd, by("run.created", "run", odd.ID)))
	for query, want := range map[string][]uuid.UUID{"größe": {odd.ID}, "GRÖSSER": {}, "0%": {odd.ID}, " make DEPLOY_it ": {odd.ID}, "deployXit": {},
		"OTHER": {others.ID}, "deploy@host": {}} {
		same(t, "runs with "+query, ids(running.Filter{Query: query, Limit: 2}), want)
	}
	same(t, "runs with a command, over pages", len(ids(running.Filter{Query: "uname -A", Limit: 2})), 7)
	same(t, "runs of a company with what is another's", len(ids(running.Filter{CompanyID: &a.ID, Query: "other"})), 0)
}

func testOrphanedRuns(t *testing.T, s suite) {
	ctx := t.Context()
	c, e := s.company("acme"), s.environment("box")
	one, leaving, ended := s.run(c, e), s.run(c, e), s.run(c, e)
	s.move(ended.ID, environment.RunCancelled)
	held, released := s.lease(c, e, &one.ID), s.lease(c, e, &leaving.ID)
	s.hold(held.ID, environment.LeaseActive)
	s.hold(released.ID, environment.LeaseActive, environment.LeaseReleasing)
	for run, lease := range map[uuid.UUID]uuid.UUID{one.ID: held.ID, leaving.ID: released.ID} {
		_, err := s.UpdateRun(ctx, run, s.server, func(r *environment.Run) error { r.LeaseID = &lease; return nil })
		s.must(err)
	}
	got, err := s.OrphanedRuns(ctx, environment.NewID(), 10)
	s.must(err)
	same(t, "runs taken from a server that lives", len(got), 0)
	next := s.die()
	got, err = s.OrphanedRuns(ctx, next, 10)
	s.must(err)
	got = slices.DeleteFunc(got, func(r environment.Run) bool { return r.ID == leaving.ID })
	if len(got) != 1 || got[0].ID != one.ID || got[0].Owner != next || string(got[0].Input) != "sealed" {
		t.Fatalf("runs taken from a dead server: got %+v, want the one under way with its input", got)
	}
	for lease, owner := range map[uuid.UUID]uuid.UUID{held.ID: next, released.ID: s.server} {
		l, err := s.Lease(ctx, lease)
		s.must(err)
		same(t, "owner of the "+string(l.Status)+" lease of a run that was taken", l.Owner, owner)
	}
	got, err = s.OrphanedRuns(ctx, next, 10)
	s.must(err)
	same(t, "runs taken twice", len(got), 0)
	_, err = s.UpdateRun(ctx, one.ID, s.server, func(*environment.Run) error { return nil })
	s.code("a change by the dead server", err, environment.KindConflict, "run_taken_over")
	err = s.AppendOutput(ctx, one.ID, s.server, []environment.LogChunk{{Stream: environment.Stdout, Data: []byte("x")}})
	s.code("output by the dead server", err, environment.KindConflict, "run_taken_over")
}
