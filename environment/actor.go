package environment

import "github.com/google/uuid"

// ActorKind is the sort of somebody who asks.
type ActorKind string

// The kinds of actors.
const (
	ActorNone          ActorKind = ""
	ActorLocalOperator ActorKind = "local_operator"
	ActorPerson        ActorKind = "person"
	ActorAgent         ActorKind = "agent"
	ActorSystem        ActorKind = "system" // timeouts, reapers: activity only, may nothing by itself
)

// Role is what a person is in a company.
type Role string

// The roles. Owners and admins assign environments and keep secrets and agents;
// a member starts runs and reads.
const (
	RoleOwner  Role = "owner"
	RoleAdmin  Role = "admin"
	RoleMember Role = "member"
)

// Roles lists every role, the mightiest first.
func Roles() []Role { return []Role{RoleOwner, RoleAdmin, RoleMember} }

// Actor is who asks. It is an argument of every use case, never a context value.
type Actor struct {
	Kind ActorKind
	ID   uuid.UUID // of the person or agent; zero for the local operator and the system
	Name string
	// InstanceAdmin is a person who may do everything.
	InstanceAdmin bool
	// Roles are a person's, by company.
	Roles map[uuid.UUID]Role
	// CompanyID is an agent's company.
	CompanyID uuid.UUID
	// Credential is what the actor showed, so that whoever serves it for long can
	// ask again whether it still counts.
	Credential Credential
}

// CredentialKind is the sort of proof that an actor showed.
type CredentialKind string

// The kinds of credentials.
const (
	CredentialNone    CredentialKind = "" // local_trusted
	CredentialSession CredentialKind = "session"
	CredentialToken   CredentialKind = "token"     // personal API token
	CredentialKey     CredentialKind = "agent_key" // an agent's bearer key
)

// Credential names a proof; it holds no secret.
type Credential struct {
	Kind CredentialKind
	ID   uuid.UUID // of the session, token or key
}

// LocalOperator is whoever reaches a server in mode local_trusted.
func LocalOperator() Actor { return Actor{Kind: ActorLocalOperator, Name: "local operator"} }

// System is Berth itself, for activity that nobody asked for.
func System() Actor { return Actor{Kind: ActorSystem, Name: "berth"} }

// Everywhere reports whether the actor may do everything: the local operator,
// an instance admin.
func (a Actor) Everywhere() bool {
	return a.Kind == ActorLocalOperator || a.Kind == ActorPerson && a.InstanceAdmin
}

// In reports whether the actor belongs to a company.
func (a Actor) In(company uuid.UUID) bool {
	if a.Kind == ActorAgent {
		return a.CompanyID == company
	}
	_, is := a.Roles[company]
	return a.Everywhere() || is
}

// Companies are those that the actor belongs to; nil for one who is everywhere.
func (a Actor) Companies() []uuid.UUID {
	switch {
	case a.Everywhere():
		return nil
	case a.Kind == ActorAgent:
		return []uuid.UUID{a.CompanyID}
	}
	ids := make([]uuid.UUID, 0, len(a.Roles))
	for id := range a.Roles {
		ids = append(ids, id)
	}
	return ids
}
