package running_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/access"
	"berth/environment/running"

	"github.com/google/uuid"
)

func person(company uuid.UUID, role environment.Role) environment.Actor {
	return environment.Actor{Kind: environment.ActorPerson, ID: environment.NewID(), Name: "Mo", Roles: map[uuid.UUID]environment.Role{company: role}}
}

// agent makes an agent of the bed's company that works in an environment, if any.
func (b *bed) agent(name string, works *uuid.UUID) environment.Actor {
	b.t.Helper()
	a := environment.Agent{ID: environment.NewID(), CompanyID: b.company, Name: name, AdapterType: "process",
		Status: environment.AgentActive, DefaultEnvironmentID: works}
	if err := b.store.CreateAgent(context.Background(), a, environment.Activity{}); err != nil {
		b.t.Fatalf("agent: %v", err)
	}
	return environment.Actor{Kind: environment.ActorAgent, ID: a.ID, Name: a.Name, CompanyID: a.CompanyID}
}

// TestC71_AForeignRunIsLikeNone: to another company, and to another agent of the
// same.
func TestC71_AForeignRunIsLikeNone(t *testing.T) {
	inBubble(t, newTarget(out(time.Hour, "x"), exit(0, 0)), func(t *testing.T, b *bed) {
		ctx, random := context.Background(), environment.NewID()
		mine := b.agent("mine", nil)
		run, err := b.server.Start(ctx, mine, b.input("x"))
		if err != nil || run.AgentID == nil || *run.AgentID != mine.ID {
			t.Fatalf("an agent's run is %+v, %v", run, err)
		}
		reads := map[string]func(environment.Actor, uuid.UUID) error{
			"get": func(a environment.Actor, id uuid.UUID) error { _, err := b.server.Get(ctx, a, id); return err },
			"log": func(a environment.Actor, id uuid.UUID) error {
				_, err := b.server.Log(ctx, a, id, 0, 0)
				return err
			},
			"events": func(a environment.Actor, id uuid.UUID) error {
				_, err := b.server.Events(ctx, a, id, 0)
				return err
			},
			"files":  func(a environment.Actor, id uuid.UUID) error { _, err := b.server.Files(ctx, a, id, ""); return err },
			"cancel": func(a environment.Actor, id uuid.UUID) error { _, err := b.server.Cancel(ctx, a, id); return err },
		}
		strangers := map[string]environment.Actor{"of another company": person(environment.NewID(), environment.RoleOwner), "another agent": b.agent("other", nil)}
		for name, read := range reads {
			for who, stranger := range strangers {
				foreign, none := environment.AsError(read(stranger, run.ID)), environment.AsError(read(stranger, random))
				if foreign == nil || foreign.Kind != environment.KindNotFound || foreign.Code != none.Code || foreign.Message != none.Message ||
					!reflect.DeepEqual(foreign.Details, none.Details) {
					t.Errorf("%s by one %s: %+v, and of no run %+v", name, who, foreign, none)
				}
				if !errors.Is(foreign, access.ErrForeign) || errors.Is(none, access.ErrForeign) {
					t.Errorf("%s by one %s: the attempt cannot be told from a mistake", name, who)
				}
			}
		}
		if got := b.run(run.ID); got.CancelBy != nil {
			t.Error("a stranger cancelled the run")
		}
		for who, a := range map[string]environment.Actor{"itself": mine, "a member": person(b.company, environment.RoleMember)} {
			if _, err := b.server.Get(ctx, a, run.ID); err != nil {
				t.Errorf("read by %s: %v", who, err)
			}
		}
		for who, want := range map[string]int{"of another company": 0, "another agent": 0} {
			page, err := b.server.List(ctx, strangers[who], running.Filter{})
			if err != nil || len(page.Items) != want {
				t.Errorf("one %s lists %d runs, %v", who, len(page.Items), err)
			}
		}
		if page, err := b.server.List(ctx, mine, running.Filter{CompanyID: &b.company}); err != nil || len(page.Items) != 1 {
			t.Errorf("the agent lists %d runs, %v", len(page.Items), err)
		}
	})
}

// TestRunsOfMembersNameNoHost: not in the row, not in events, not when they fail.
func TestRunsOfMembersNameNoHost(t *testing.T) {
	target := newTarget(out(0, "x"), exit(0, 0))
	inBubble(t, target, func(t *testing.T, b *bed) {
		ctx, mo := context.Background(), person(b.company, environment.RoleMember)
		run, err := b.server.Start(ctx, mo, b.input("x"))
		if err != nil {
			t.Fatal(err)
		}
		b.end(run.ID)
		whole, err := b.server.Get(ctx, operator, run.ID)
		if err != nil || whole.Host == nil || whole.Target == whole.Driver {
			t.Fatalf("an admin reads %+v, %v; want its host", whole, err)
		}
		got, err := b.server.Get(ctx, mo, run.ID)
		if err != nil || got.Host != nil || got.Process != nil || got.Target != "ssh" || run.Target != "ssh" {
			t.Errorf("a member reads target %q, host %v, %v", got.Target, got.Host, err)
		}
		failed, err := b.store.UpdateRun(ctx, b.start(b.input("y")).ID, uuid.Nil, func(r *environment.Run) error {
			r.Failure = &environment.Failure{Code: environment.CodeConnectRefused, Message: "hidden.example:22 refused", Remediation: "Ask hidden.example."}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err = b.server.Get(ctx, mo, failed.ID)
		if err != nil || got.Failure == nil || got.Failure.Code != environment.CodeConnectRefused || strings.Contains(got.Failure.Message+got.Failure.Remediation, "hidden") {
			t.Errorf("a member reads the failure %+v, %v", got.Failure, err)
		}
		events, err := b.server.Events(ctx, mo, failed.ID, 0)
		if err != nil || len(events) == 0 {
			t.Fatal(events, err)
		}
		for _, e := range events {
			if strings.Contains(string(e.Payload), "hidden") {
				t.Errorf("a member's event holds %s", e.Payload)
			}
		}
	})
}

// TestWorkOnTheServerItselfIsForAdmins: whatever a member's or an agent's default
// says.
func TestWorkOnTheServerItselfIsForAdmins(t *testing.T) {
	inBubble(t, newTarget(exit(0, 0)), func(t *testing.T, b *bed) {
		ctx := context.Background()
		local := b.newEnv(environment.DriverLocal, "Local", environment.StatusActive)
		admin := environment.Actor{Kind: environment.ActorPerson, ID: environment.NewID(), Name: "Ada", InstanceAdmin: true}
		in := b.input("x")
		in.EnvironmentID = &local.ID
		for who, tc := range map[string]struct {
			actor environment.Actor
			may   bool
		}{
			"local operator": {operator, true}, "instance admin": {admin, true}, "owner": {person(b.company, environment.RoleOwner), false},
			"agent": {b.agent("a", nil), false}, "agent with Local as its default": {b.agent("b", &local.ID), false},
		} {
			run, err := b.server.Start(ctx, tc.actor, in)
			switch {
			case tc.may && err != nil:
				t.Errorf("%s: %v", who, err)
			case tc.may:
				b.end(run.ID)
			case environment.CodeOf(err) != environment.CodeLocalAdminsOnly || environment.KindOf(err) != environment.KindForbidden || !errors.Is(err, access.ErrRole):
				t.Errorf("%s: %v, want local_admins_only", who, err)
			}
		}
	})
}

// TestARunWithoutAnEnvironmentGoesToADefault: an agent's own, else the instance's.
func TestARunWithoutAnEnvironmentGoesToADefault(t *testing.T) {
	inBubble(t, newTarget(exit(0, 0)), func(t *testing.T, b *bed) {
		ctx := context.Background()
		mo, own := person(b.company, environment.RoleMember), b.newEnv("ssh", "own", environment.StatusActive)
		in := running.Input{CompanyID: b.company, Command: []string{"x"}}
		_, err := b.server.Start(ctx, mo, in)
		if environment.CodeOf(err) != environment.CodeEnvironmentRequired {
			t.Errorf("without any default: %v", err)
		}
		set := func(id uuid.UUID, only bool) {
			t.Helper()
			p := environment.SettingsPatch{DefaultEnvironmentID: &id, EnableManagedSandboxOnly: &only}
			if _, err := b.store.UpdateSettings(ctx, p, environment.Activity{}); err != nil {
				t.Fatal(err)
			}
		}
		set(b.env.ID, false)
		for who, tc := range map[string]struct {
			actor environment.Actor
			want  uuid.UUID
		}{"member": {mo, b.env.ID}, "agent": {b.agent("a", nil), b.env.ID}, "agent with a default": {b.agent("b", &own.ID), own.ID}} {
			run, err := b.server.Start(ctx, tc.actor, in)
			if err != nil || run.EnvironmentID == nil || *run.EnvironmentID != tc.want {
				t.Fatalf("%s: %+v, %v", who, run.EnvironmentID, err)
			}
			b.end(run.ID)
		}
		local := b.newEnv(environment.DriverLocal, "Local", environment.StatusActive)
		set(local.ID, true)
		if _, err := b.server.Start(ctx, operator, in); environment.CodeOf(err) != environment.CodeManagedSandboxOnly {
			t.Errorf("a default that is hidden: %v", err)
		}
	})
}

// TestNothingRunsWhileEnvironmentsAreOff: what runs can be read and cancelled.
func TestNothingRunsWhileEnvironmentsAreOff(t *testing.T) {
	inBubble(t, newTarget(out(0, "x"), out(time.Hour, "y"), exit(0, 0)), func(t *testing.T, b *bed) {
		ctx := context.Background()
		run := b.start(b.input("x"))
		b.wait(run.ID, is(environment.RunRunning))
		if _, err := b.store.UpdateSettings(ctx, environment.SettingsPatch{EnableEnvironments: new(false)}, environment.Activity{}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.server.Start(ctx, operator, b.input("y")); environment.CodeOf(err) != environment.CodeEnvironmentsDisabled {
			t.Errorf("start: %v", err)
		}
		if _, err := b.server.Start(ctx, person(environment.NewID(), environment.RoleOwner), b.input("y")); environment.CodeOf(err) != "company_not_found" {
			t.Errorf("start by a stranger: %v, want authority first", err)
		}
		if _, err := b.server.Get(ctx, operator, run.ID); err != nil {
			t.Errorf("read: %v", err)
		}
		mo := person(b.company, environment.RoleMember)
		if _, err := b.server.Cancel(ctx, mo, run.ID); err != nil {
			t.Fatalf("cancel: %v", err)
		}
		if _, err := b.server.Cancel(ctx, mo, run.ID); err != nil {
			t.Errorf("cancel again: %v", err)
		}
		b.end(run.ID)
		page, err := b.store.Activity(ctx, environment.ActivityFilter{Action: "run.cancelled"})
		if err != nil || len(page.Items) != 1 || page.Items[0].ActorName != "Mo" || *page.Items[0].ActorID != mo.ID ||
			page.Items[0].EntityID != run.ID.String() || *page.Items[0].CompanyID != b.company {
			t.Errorf("the log says of the cancel %+v, %v", page.Items, err)
		}
	})
}
