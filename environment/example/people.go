package example

import (
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// Ada is an instance admin, and signed in.
func Ada() environment.Person {
	return environment.Person{ID: id(0x10, 1), Email: "ada@example.com", Name: "Ada Lovelace", InstanceAdmin: true,
		LastSeenAt: pointer(Before(20 * time.Second)), CreatedAt: Before(60 * 24 * time.Hour), UpdatedAt: Before(10 * 24 * time.Hour),
		Roles: map[uuid.UUID]environment.Role{Acme().ID: environment.RoleOwner}}
}

// Ben is an admin of one company and a member of the other.
func Ben() environment.Person {
	return environment.Person{ID: id(0x10, 2), Email: "ben@example.com", Name: "Ben Okafor",
		LastSeenAt: pointer(Before(26 * time.Hour)), CreatedAt: Before(30 * 24 * time.Hour), UpdatedAt: Before(3 * 24 * time.Hour),
		Roles: map[uuid.UUID]environment.Role{Acme().ID: environment.RoleAdmin, Globex().ID: environment.RoleMember}}
}

// Cleo is disabled, and never signed in.
func Cleo() environment.Person {
	return environment.Person{ID: id(0x10, 3), Email: "cleo@example.com", Name: "Cleo Díaz", DisabledAt: pointer(Before(5 * 24 * time.Hour)),
		CreatedAt: Before(20 * 24 * time.Hour), UpdatedAt: Before(5 * 24 * time.Hour),
		Roles: map[uuid.UUID]environment.Role{Acme().ID: environment.RoleMember}}
}

// People are all three.
func People() []environment.Person { return []environment.Person{Ada(), Ben(), Cleo()} }

// Sessions are Ada's: the first is the one that looks.
func Sessions() []environment.Session {
	const desk = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/136.0.0.0 Safari/537.36"
	const phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Mobile/15E148 Safari/604.1"
	return []environment.Session{
		{ID: id(0x11, 1), PersonID: Ada().ID, CreatedAt: Before(3 * time.Hour), LastSeenAt: Before(20 * time.Second), Address: "192.0.2.14", UserAgent: desk},
		{ID: id(0x11, 2), PersonID: Ada().ID, CreatedAt: Before(9 * 24 * time.Hour), LastSeenAt: Before(2 * 24 * time.Hour), Address: "2001:db8::7", UserAgent: phone},
	}
}

// Tokens are Ada's: used, new, expired.
func Tokens() []environment.Key {
	owner := Ada().ID
	return []environment.Key{
		{ID: id(0x12, 1), PersonID: &owner, Name: "laptop", Hint: "x7Qa", CreatedAt: Before(12 * 24 * time.Hour), CreatedBy: "Ada Lovelace", LastUsedAt: pointer(Before(4 * time.Minute))},
		{ID: id(0x12, 2), PersonID: &owner, Name: "nightly backup", Hint: "h2Lm", CreatedAt: Before(time.Hour), CreatedBy: "Ada Lovelace", ExpiresAt: pointer(Now().Add(90 * 24 * time.Hour))},
		{ID: id(0x12, 3), PersonID: &owner, Name: "old laptop", Hint: "p0sW", CreatedAt: Before(80 * 24 * time.Hour), CreatedBy: "Ada Lovelace", LastUsedAt: pointer(Before(50 * 24 * time.Hour)), ExpiresAt: pointer(Before(20 * 24 * time.Hour))},
	}
}

// Invitation is an open invitation to Globex.
func Invitation() environment.Link {
	return environment.Link{ID: id(0x13, 1), Kind: environment.LinkInvitation, Email: "dana@example.com", CreatedBy: "Ada Lovelace",
		Roles:     map[uuid.UUID]environment.Role{Globex().ID: environment.RoleMember, Acme().ID: environment.RoleAdmin},
		CreatedAt: Before(26 * time.Hour), ExpiresAt: Now().Add(6 * 24 * time.Hour)}
}

// FirstAdminLink is the link that a new server prints.
func FirstAdminLink() environment.Link {
	return environment.Link{ID: id(0x13, 2), Kind: environment.LinkFirstAdmin, InstanceAdmin: true, CreatedBy: "berth",
		CreatedAt: Before(time.Minute), ExpiresAt: Now().Add(24 * time.Hour)}
}

// PasswordLink lets Ben set a new password.
func PasswordLink() environment.Link {
	return environment.Link{ID: id(0x13, 3), Kind: environment.LinkPassword, Email: Ben().Email, PersonID: pointer(Ben().ID), CreatedBy: "Ada Lovelace",
		CreatedAt: Before(time.Minute), ExpiresAt: Now().Add(24 * time.Hour)}
}

// Agents are those of Acme: one that works, one that is disabled.
func Agents() []environment.Agent {
	return []environment.Agent{
		{ID: id(0x14, 1), CompanyID: Acme().ID, Name: "reviewer", AdapterType: "process", Status: environment.AgentActive,
			DefaultEnvironmentID: pointer(ReadySSH().ID), CreatedAt: Before(14 * 24 * time.Hour), UpdatedAt: Before(24 * time.Hour)},
		{ID: id(0x14, 2), CompanyID: Acme().ID, Name: "retired builder", AdapterType: "codex_local", Status: environment.AgentDisabled,
			CreatedAt: Before(70 * 24 * time.Hour), UpdatedAt: Before(6 * 24 * time.Hour)},
	}
}

// AgentKeys are the first agent's: used, never used, revoked.
func AgentKeys() []environment.Key {
	agent := Agents()[0].ID
	return []environment.Key{
		{ID: id(0x15, 1), AgentID: &agent, Name: "runner on build-box", Hint: "Kd3v", CreatedAt: Before(14 * 24 * time.Hour), CreatedBy: "Ada Lovelace", LastUsedAt: pointer(Before(2 * time.Minute))},
		{ID: id(0x15, 2), AgentID: &agent, Name: "spare", Hint: "0oZe", CreatedAt: Before(3 * 24 * time.Hour), CreatedBy: "Ben Okafor", ExpiresAt: pointer(Now().Add(27 * 24 * time.Hour))},
		{ID: id(0x15, 3), AgentID: &agent, Name: "leaked in a log", Hint: "yq8R", CreatedAt: Before(40 * 24 * time.Hour), CreatedBy: "Ada Lovelace", LastUsedAt: pointer(Before(14 * 24 * time.Hour)), RevokedAt: pointer(Before(14 * 24 * time.Hour))},
	}
}
