package running_test

import (
	"context"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/running"

	"github.com/google/uuid"
)

// TestManagedSandboxOnly moves what would be Local, and nothing else.
func TestManagedSandboxOnly(t *testing.T) {
	managed := func(e *environment.Environment) { e.Managed = true }
	archived := func(e *environment.Environment) { e.Managed, e.Status = true, environment.StatusArchived }
	tests := map[string]struct {
		managed   func(*environment.Environment) // nil: there is none
		provision string
		code      string
	}{
		"there, active and provisioned": {managed, "docker", ""},
		"not provisioned":               {managed, "", environment.CodeManagedSandboxOnly},
		"another one is provisioned":    {managed, "fake", environment.CodeManagedSandboxOnly},
		"archived":                      {archived, "docker", environment.CodeManagedSandboxOnly},
		"none":                          {nil, "docker", environment.CodeManagedSandboxOnly},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, newTarget(exit(0, 0)), func(t *testing.T, b *bed) {
				ctx := context.Background()
				local, own := b.newEnv("local", "Local", environment.StatusActive), b.box(docker)
				var sandbox environment.Environment
				if test.managed != nil {
					sandbox = b.box(docker, test.managed)
				}
				if err := b.store.SetManagedProvider(ctx, test.provision, environment.Activity{}); err != nil {
					t.Fatal(err)
				}
				patch := environment.SettingsPatch{EnableManagedSandboxOnly: new(true), DefaultEnvironmentID: &local.ID}
				if _, err := b.store.UpdateSettings(ctx, patch, environment.Activity{}); err != nil {
					t.Fatal(err)
				}
				agent := b.agent("a", &local.ID)
				for how, from := range map[string]struct {
					actor environment.Actor
					in    *uuid.UUID
				}{"named": {operator, &local.ID}, "the default": {operator, nil}, "an agent's default": {agent, nil}} {
					in := b.input("x")
					in.EnvironmentID = from.in
					r, err := b.server.Start(ctx, from.actor, in)
					switch {
					case test.code != "":
						if environment.CodeOf(err) != test.code {
							t.Errorf("%s: %+v, %v; want %s", how, r, err, test.code)
						}
					case err != nil || b.run(r.ID).EnvironmentID == nil || *b.run(r.ID).EnvironmentID != sandbox.ID:
						t.Errorf("%s: %+v, %v; want the managed sandbox", how, r, err)
					default:
						if end := b.end(r.ID); end.Status != environment.RunSucceeded || end.Driver != "sandbox" || end.EnvironmentName != sandbox.Name {
							t.Errorf("%s: %+v", how, end)
						}
					}
				}
				for _, env := range []environment.Environment{b.env, own} {
					in := b.input("x")
					in.EnvironmentID = &env.ID
					if r := b.end(b.start(in).ID); *r.EnvironmentID != env.ID {
						t.Errorf("%s moved to %s", env.Name, r.EnvironmentName)
					}
				}
				gone := b.newEnv("ssh", "old", environment.StatusArchived)
				if _, err := b.server.Start(ctx, operator, b.in(gone, false)); environment.CodeOf(err) != environment.CodeEnvironmentInactive {
					t.Errorf("archived: %v", err)
				}
			})
		})
	}
}

// TestFakeProvider_isForAdmins: its work runs on the server itself.
func TestFakeProvider_isForAdmins(t *testing.T) {
	inBubble(t, newTarget(exit(0, 0)), func(t *testing.T, b *bed) {
		env := b.box(`{"provider":"fake"}`)
		in := b.in(env, false)
		for who, actor := range map[string]environment.Actor{
			"owner": person(b.company, environment.RoleOwner), "member": person(b.company, environment.RoleMember), "agent": b.agent("a", nil),
		} {
			_, err := b.server.Start(context.Background(), actor, in)
			if e := environment.AsError(err); e.Kind != environment.KindForbidden || e.Code != environment.CodeLocalAdminsOnly || e.Remediation == "" {
				t.Errorf("%s: %v", who, err)
			}
		}
		if r := b.end(b.start(in).ID); r.Status != environment.RunSucceeded || r.Provider != "fake" {
			t.Errorf("admin: %+v", r)
		}
		if r, err := b.server.Start(context.Background(), person(b.company, environment.RoleMember), b.in(b.box(docker), false)); err != nil {
			t.Errorf("a member in a real sandbox: %v", err)
		} else {
			b.end(r.ID)
		}
	})
}

// TestSandbox_isAnAgents: agents share no sandbox, and the lease says whose it is.
func TestSandbox_isAnAgents(t *testing.T) {
	const reuse = `{"provider":"docker","image":"r.example/app@sha256:aa","reuseLease":true}`
	inBubble(t, newTarget(exit(time.Second, 0)), func(t *testing.T, b *bed) {
		env := b.box(reuse)
		agents := []environment.Actor{b.agent("a", &env.ID), b.agent("b", &env.ID)}
		for round := range 2 {
			for _, agent := range agents {
				r, err := b.server.Start(context.Background(), agent, running.Input{CompanyID: b.company, Command: []string{"x"}})
				if err != nil {
					t.Fatal(err)
				}
				end := b.end(r.ID)
				l := b.lease(end)
				if end.Status != environment.RunSucceeded || l.AgentID == nil || *l.AgentID != agent.ID || l.AdapterType == nil || *l.AdapterType == "" || (l.Resumes != nil) != (round == 1) {
					t.Errorf("round %d: %s, lease of %v by %v, resumes %v", round, end.Status, l.AgentID, l.AdapterType, l.Resumes)
				}
			}
		}
		if _, made := b.target.there(); made != 2 {
			t.Errorf("%d sandboxes were made, want one for each agent", made)
		}
	})
}
