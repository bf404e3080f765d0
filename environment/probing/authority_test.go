package probing_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

func member(company uuid.UUID) environment.Actor {
	return environment.Actor{Kind: environment.ActorPerson, ID: environment.NewID(), Roles: map[uuid.UUID]environment.Role{company: environment.RoleMember}}
}

// TestC71_AForeignProbeIsLikeNone: and one for no company is admins' only.
func TestC71_AForeignProbeIsLikeNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 2)
		env, company := b.env("ssh", "box", environment.StatusActive), environment.NewID()
		p, err := b.Start(t.Context(), operator, env.ID, &company)
		if err != nil {
			t.Fatal(err)
		}
		b.wait(p.ID)
		nobodys := b.start(env.ID)
		b.wait(nobodys.ID)
		mo, stranger := member(company), member(environment.NewID())
		_, none := b.Get(t.Context(), stranger, environment.NewID())
		for name, tc := range map[string]struct {
			actor environment.Actor
			id    uuid.UUID
		}{"another company's": {stranger, p.ID}, "nobody's": {mo, nobodys.ID}} {
			_, get := b.Get(t.Context(), tc.actor, tc.id)
			_, wait := b.Wait(t.Context(), tc.actor, tc.id)
			_, events := b.Events(t.Context(), tc.actor, tc.id, 0)
			for _, err := range []error{get, wait, events} {
				e, n := environment.AsError(err), environment.AsError(none)
				if err == nil || e.Kind != environment.KindNotFound || e.Code != n.Code || e.Message != n.Message || !errors.Is(err, access.ErrForeign) {
					t.Errorf("%s: %v, want as of none: %v", name, err, none)
				}
			}
		}
		for name, tc := range map[string]struct {
			actor environment.Actor
			want  int
		}{"admin": {operator, 2}, "member": {mo, 1}, "stranger": {stranger, 0}} {
			page, err := b.History(t.Context(), tc.actor, env.ID, 10, "")
			if err != nil || len(page.Items) != tc.want {
				t.Errorf("%s sees %d probes, %v", name, len(page.Items), err)
			}
		}
		for name, err := range map[string]error{
			"start":  second(b.Start(t.Context(), mo, env.ID, &company)),
			"cancel": second(b.Cancel(t.Context(), mo, p.ID)),
			"agent":  second(b.Get(t.Context(), environment.Actor{Kind: environment.ActorAgent, ID: environment.NewID(), CompanyID: company}, p.ID)),
		} {
			if environment.KindOf(err) != environment.KindForbidden || !errors.Is(err, access.ErrRole) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

func third[T, U any](_ T, _ U, err error) error { return err }

// TestMembersReadProbesWithoutHosts: not in the result, not in its stages, not in
// its events.
func TestMembersReadProbesWithoutHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 2)
		b.driver.play(func(_ context.Context, _ environment.Spec, report func(environment.Stage)) environment.ProbeResult {
			report(environment.Stage{Name: "connect", Status: environment.StageFailed, Code: environment.CodeConnectRefused, Message: "hidden.example refused",
				Measured: map[string]any{"address": "hidden.example"}, Limit: map[string]any{"of": "hidden"}, Remediation: "Ask hidden.example."})
			return environment.ProbeResult{Code: environment.CodeConnectRefused, Summary: "hidden.example: refused", Host: &environment.HostFacts{Name: "hidden"},
				Presented: []environment.HostKey{{Type: "hidden"}}, Trusted: []environment.HostKey{{Type: "hidden"}}}
		})
		env, company := b.env("ssh", "box", environment.StatusActive), environment.NewID()
		p, err := b.Start(t.Context(), operator, env.ID, &company)
		if err != nil {
			t.Fatal(err)
		}
		if whole := b.wait(p.ID); !strings.Contains(whole.Summary, "hidden") || whole.Host == nil {
			t.Fatalf("an admin reads %+v: the test proves nothing", whole)
		}
		mo := member(company)
		got, err := b.Get(t.Context(), mo, p.ID)
		if err != nil || got.Target != "ssh" || got.Host != nil || got.Presented != nil || got.Trusted != nil || got.Summary != environment.Plainly(environment.CodeConnectRefused) {
			t.Errorf("a member reads %+v, %v", got, err)
		}
		for _, s := range got.Stages {
			if strings.Contains(s.Message+s.Remediation, "hidden") || len(s.Measured)+len(s.Limit) > 0 {
				t.Errorf("stage %+v", s)
			}
		}
		events, err := b.Events(t.Context(), mo, p.ID, 0)
		if err != nil || len(events) == 0 {
			t.Fatal(events, err)
		}
		for _, e := range events {
			if strings.Contains(string(e.Payload), "hidden") {
				t.Errorf("a member's %s event holds %s", e.Kind, e.Payload)
			}
		}
	})
}

// TestNothingIsTestedWhileEnvironmentsAreOff: nor is Local, for managed sandboxes.
func TestNothingIsTestedWhileEnvironmentsAreOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, 2)
		env, local := b.env("ssh", "box", environment.StatusActive), b.env("local", "Local", environment.StatusActive)
		set := func(p environment.SettingsPatch) {
			t.Helper()
			if _, err := b.store.UpdateSettings(t.Context(), p, environment.Activity{}); err != nil {
				t.Fatal(err)
			}
		}
		set(environment.SettingsPatch{EnableManagedSandboxOnly: new(true)})
		if _, err := b.Start(t.Context(), operator, local.ID, nil); environment.CodeOf(err) != environment.CodeEnvironmentNotFound {
			t.Errorf("Local: %v", err)
		}
		set(environment.SettingsPatch{EnableEnvironments: new(false)})
		for name, err := range map[string]error{
			"one":   second(b.Start(t.Context(), operator, env.ID, nil)),
			"draft": second(b.StartDraft(t.Context(), operator, nil, nil, environment.Draft{Driver: "ssh"})),
			"all":   third(b.StartAll(t.Context(), operator, nil)),
		} {
			if environment.CodeOf(err) != environment.CodeEnvironmentsDisabled {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
