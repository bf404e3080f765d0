package leasing_test

import (
	"errors"
	"testing"

	"berth/environment"
	"berth/environment/access"
	"berth/environment/leasing"

	"github.com/google/uuid"
)

// TestC71_AForeignLeaseIsLikeNone: by its id and in lists.
func TestC71_AForeignLeaseIsLikeNone(t *testing.T) {
	b := newBed(t)
	lease := b.acquire()
	member := environment.Actor{Kind: environment.ActorPerson, ID: environment.NewID(), Roles: map[uuid.UUID]environment.Role{b.company: environment.RoleMember}}
	stranger := environment.Actor{Kind: environment.ActorPerson, ID: environment.NewID(), Roles: map[uuid.UUID]environment.Role{environment.NewID(): environment.RoleOwner}}
	_, foreign := b.Get(t.Context(), stranger, lease.ID)
	_, none := b.Get(t.Context(), stranger, environment.NewID())
	if f, n := environment.AsError(foreign), environment.AsError(none); f.Kind != environment.KindNotFound || f.Code != n.Code || f.Message != n.Message {
		t.Errorf("another company's lease gives %v, none gives %v", foreign, none)
	}
	if !errors.Is(foreign, access.ErrForeign) {
		t.Error("the attempt cannot be told from a mistake")
	}
	whole, got := b.get(lease.ID), environment.Lease{}
	got, err := b.Get(t.Context(), member, lease.ID)
	if err != nil || got.ProviderID != nil || got.Ref != nil || got.Metadata != nil || got.Receipt != nil || got.Status != whole.Status {
		t.Errorf("a member reads %+v, %v", got, err)
	}
	if whole.ProviderID == nil || len(whole.Ref) == 0 {
		t.Errorf("an admin reads %+v: the test proves nothing", whole)
	}
	for name, tc := range map[string]struct {
		actor environment.Actor
		want  int
	}{"admin": {operator, 1}, "member": {member, 1}, "stranger": {stranger, 0}} {
		page, err := b.List(t.Context(), tc.actor, leasing.Filter{EnvironmentID: &b.env.ID})
		if err != nil || len(page.Items) != tc.want {
			t.Errorf("%s lists %d leases, %v", name, len(page.Items), err)
		}
		for _, l := range page.Items {
			if name == "member" && l.ProviderID != nil {
				t.Errorf("a member's list holds %q", *l.ProviderID)
			}
		}
	}
	if _, err := b.List(t.Context(), stranger, leasing.Filter{CompanyID: &b.company}); environment.CodeOf(err) != "company_not_found" {
		t.Errorf("another company's leases: %v", err)
	}
	agent := environment.Actor{Kind: environment.ActorAgent, ID: environment.NewID(), CompanyID: b.company}
	_, read := b.Get(t.Context(), agent, lease.ID)
	_, release := b.Release(t.Context(), member, lease.ID)
	for name, err := range map[string]error{"read by an agent": read, "release by a member": release} {
		if environment.KindOf(err) != environment.KindForbidden || !errors.Is(err, access.ErrRole) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
