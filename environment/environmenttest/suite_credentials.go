package environmenttest

import (
	"testing"
	"time"

	"berth/environment"
	"berth/environment/identity"

	"github.com/google/uuid"
)

// session stores a session of somebody.
func (s suite) session(person uuid.UUID, expires time.Time) environment.Session {
	s.t.Helper()
	session := environment.Session{ID: environment.NewID(), PersonID: person, CreatedAt: moment(1), LastSeenAt: moment(1),
		Address: "192.0.2.7", UserAgent: "Firefox"}
	s.must(s.CreateSession(s.t.Context(), session, expires, by("session.created", "person", person)))
	return session
}

// key stores a key and returns it with its hash.
func (s suite) key(k environment.Key) (environment.Key, []byte) {
	s.t.Helper()
	k.ID, k.Name, k.Hint, k.CreatedBy, k.CreatedAt = environment.NewID(), "laptop", "abcd", "ada", moment(1)
	hash := []byte("hash of " + k.ID.String())
	s.must(s.CreateKey(s.t.Context(), k, hash, 100, by("key.created", "person", k.ID)))
	return k, hash
}

// agent stores an agent.
func (s suite) agent(c environment.Company, name string) environment.Agent {
	s.t.Helper()
	g := environment.Agent{ID: environment.NewID(), CompanyID: c.ID, Name: name, AdapterType: "claude_local",
		Status: environment.AgentActive, CreatedAt: moment(1), UpdatedAt: moment(1)}
	s.must(s.CreateAgent(s.t.Context(), g, by("agent.created", "agent", g.ID)))
	return g
}

// wakes runs act and wants the subject to be woken by it.
func (s suite) wakes(what string, subject uuid.UUID, act func()) {
	s.t.Helper()
	wake, cancel := s.Subscribe(subject)
	defer cancel()
	act()
	select {
	case <-wake:
	case <-time.After(5 * time.Second):
		s.t.Errorf("%s: the subject was not woken", what)
	}
}

func (s suite) counts(what string, c environment.Credential, want bool) {
	s.t.Helper()
	_, err := s.Counts(s.t.Context(), c)
	switch {
	case want:
		s.must(err)
	case c.Kind == environment.CredentialSession:
		s.code(what, err, environment.KindUnauthenticated, "session_ended")
	default:
		s.code(what, err, environment.KindUnauthenticated, "invalid_key")
	}
}

func ofSession(id uuid.UUID) environment.Credential {
	return environment.Credential{Kind: environment.CredentialSession, ID: id}
}

func testSessions(t *testing.T, s suite) {
	ctx, later := t.Context(), time.Now().Add(time.Hour)
	c := s.company("Acme")
	p := s.invited("ada@example.com", true, map[uuid.UUID]environment.Role{c.ID: environment.RoleAdmin})
	session := s.session(p.ID, later)
	actor, err := s.ActorOfSession(ctx, session.ID)
	s.must(err)
	same(t, "actor of a session", actor, environment.Actor{Kind: environment.ActorPerson, ID: p.ID, Name: p.Name, InstanceAdmin: true,
		Roles: map[uuid.UUID]environment.Role{c.ID: environment.RoleAdmin}, Credential: ofSession(session.ID)})
	again, err := s.Counts(ctx, actor.Credential)
	s.must(err)
	same(t, "the same again", again, actor)
	all, err := s.Sessions(ctx, p.ID)
	s.must(err)
	if len(all) != 1 || !all[0].LastSeenAt.After(moment(1)) || all[0].Address != session.Address || all[0].UserAgent != session.UserAgent {
		t.Errorf("sessions after a use: got %+v", all)
	}
	seen, err := s.Person(ctx, p.ID)
	s.must(err)
	if seen.LastSeenAt == nil || time.Since(*seen.LastSeenAt) > time.Minute {
		t.Errorf("last seen after a use: got %v", seen.LastSeenAt)
	}

	old := s.session(p.ID, time.Now().Add(-time.Second))
	_, err = s.ActorOfSession(ctx, old.ID)
	s.code("an expired session", err, environment.KindUnauthenticated, "session_ended")
	s.counts("a session that never was", ofSession(environment.NewID()), false)
	s.counts("no credential", environment.Credential{}, false)
	err = s.CreateSession(ctx, environment.Session{ID: environment.NewID(), PersonID: environment.NewID()}, later, environment.Activity{})
	s.code("a session of nobody", err, environment.KindNotFound, "person_not_found")

	other := s.invited("bob@example.com", false, nil)
	foreign := s.session(other.ID, later)
	n, err := s.EndSessions(ctx, p.ID, []uuid.UUID{foreign.ID}, environment.Activity{})
	s.must(err)
	same(t, "sessions of another ended", n, 0)
	s.counts("another's session", ofSession(foreign.ID), true)
	kept, gone := s.session(p.ID, later), s.session(p.ID, later)
	s.wakes("end a session", gone.ID, func() {
		n, err := s.EndSessions(ctx, p.ID, []uuid.UUID{gone.ID}, by("session.ended", "person", p.ID))
		s.must(err)
		same(t, "sessions ended", n, 1)
	})
	s.counts("an ended session", ofSession(gone.ID), false)
	s.counts("the one beside it", ofSession(kept.ID), true)
	s.wakes("sign out everywhere", kept.ID, func() {
		_, err := s.EndSessions(ctx, p.ID, nil, by("session.ended", "person", p.ID))
		s.must(err)
	})
	s.counts("after signing out everywhere", ofSession(session.ID), false)
	s.counts("another's session", ofSession(foreign.ID), true)
}

func testKeys(t *testing.T, s suite) {
	ctx := t.Context()
	c := s.company("Acme")
	p, g := s.invited("ada@example.com", false, map[uuid.UUID]environment.Role{c.ID: environment.RoleMember}), s.agent(c, "Coder")
	mine, hash := s.key(environment.Key{PersonID: &p.ID})
	agents, agentHash := s.key(environment.Key{AgentID: &g.ID})

	actor, err := s.ActorOfKey(ctx, hash)
	s.must(err)
	same(t, "actor of a token", actor, environment.Actor{Kind: environment.ActorPerson, ID: p.ID, Name: p.Name,
		Roles:      map[uuid.UUID]environment.Role{c.ID: environment.RoleMember},
		Credential: environment.Credential{Kind: environment.CredentialToken, ID: mine.ID}})
	actor, err = s.ActorOfKey(ctx, agentHash)
	s.must(err)
	same(t, "actor of an agent's key", actor, environment.Actor{Kind: environment.ActorAgent, ID: g.ID, Name: g.Name, CompanyID: c.ID,
		Credential: environment.Credential{Kind: environment.CredentialKey, ID: agents.ID}})
	_, err = s.ActorOfKey(ctx, []byte("no such hash"))
	s.code("an unknown key", err, environment.KindUnauthenticated, "invalid_key")
	past := time.Now().Add(-time.Second)
	_, expired := s.key(environment.Key{PersonID: &p.ID, ExpiresAt: &past})
	_, err = s.ActorOfKey(ctx, expired)
	s.code("an expired token", err, environment.KindUnauthenticated, "invalid_key")

	tokens, err := s.KeysOfPerson(ctx, p.ID)
	s.must(err)
	same(t, "tokens", len(tokens), 2)
	keys, err := s.KeysOfAgent(ctx, g.ID)
	s.must(err)
	if len(keys) != 1 || keys[0].LastUsedAt == nil || keys[0].Hint != agents.Hint || *keys[0].AgentID != g.ID {
		t.Errorf("keys of an agent after a use: got %+v", keys)
	}

	err = s.RevokeKey(ctx, p.ID, agents.ID, environment.Activity{})
	s.code("revoke another's key", err, environment.KindNotFound, "key_not_found")
	s.wakes("revoke a key", agents.ID, func() { s.must(s.RevokeKey(ctx, g.ID, agents.ID, by("key.revoked", "agent", g.ID))) })
	s.must(s.RevokeKey(ctx, g.ID, agents.ID, by("key.revoked", "agent", g.ID)))
	_, err = s.ActorOfKey(ctx, agentHash)
	s.code("a revoked key", err, environment.KindUnauthenticated, "invalid_key")
	s.counts("a revoked key", environment.Credential{Kind: environment.CredentialKey, ID: agents.ID}, false)
	log, err := s.Activity(ctx, environment.ActivityFilter{Action: "key.revoked"})
	s.must(err)
	same(t, "entries of two revocations of one key", len(log.Items), 1)
	nobody := environment.NewID()
	err = s.CreateKey(ctx, environment.Key{ID: environment.NewID(), AgentID: &nobody}, []byte("x"), 1, environment.Activity{})
	s.code("a key of no agent", err, environment.KindNotFound, "agent_not_found")
}

// testRightsGo holds that what takes a right away is felt by every credential at
// once.
func testRightsGo(t *testing.T, s suite) {
	ctx, later := t.Context(), time.Now().Add(time.Hour)
	yes, no := true, false
	c := s.company("Acme")
	s.invited("stays@example.com", true, nil)
	p := s.invited("ada@example.com", true, map[uuid.UUID]environment.Role{c.ID: environment.RoleOwner})
	session := s.session(p.ID, later)
	token, _ := s.key(environment.Key{PersonID: &p.ID})
	tokens := environment.Credential{Kind: environment.CredentialToken, ID: token.ID}
	for _, subject := range []uuid.UUID{session.ID, token.ID} {
		s.wakes("take a role away", subject, func() {
			s.must(s.SetRole(ctx, p.ID, c.ID, "", by("member.removed", "company", c.ID)))
		})
	}
	actor, err := s.Counts(ctx, tokens)
	s.must(err)
	same(t, "roles as of now", actor.Roles, map[uuid.UUID]environment.Role{})
	s.wakes("take the admin's right away", session.ID, func() {
		_, err := s.UpdatePerson(ctx, p.ID, identity.PersonPatch{InstanceAdmin: &no}, by("person.updated", "person", p.ID))
		s.must(err)
	})
	actor, err = s.Counts(ctx, ofSession(session.ID))
	s.must(err)
	same(t, "an admin no more", actor.InstanceAdmin, false)
	reset := s.link(environment.Link{Kind: environment.LinkPassword, Email: p.Email, PersonID: &p.ID})
	for _, subject := range []uuid.UUID{session.ID, token.ID} {
		s.wakes("disable somebody", subject, func() {
			_, err := s.UpdatePerson(ctx, p.ID, identity.PersonPatch{Disabled: &yes}, by("person.disabled", "person", p.ID))
			s.must(err)
			session = s.session(p.ID, later) // a sign-in that came in between
		})
	}
	s.counts("a disabled person's session", ofSession(session.ID), false)
	s.counts("a disabled person's token", tokens, false)
	_, err = s.Redeem(ctx, reset, environment.Person{}, "new", environment.Activity{})
	s.code("a disabled person's link", err, environment.KindConflict, "link_used")
	got, err := s.UpdatePerson(ctx, p.ID, identity.PersonPatch{Disabled: &no}, by("person.enabled", "person", p.ID))
	s.must(err)
	same(t, "disabled", got.DisabledAt == nil, true)
	s.counts("a token of somebody who is back", tokens, true)
}

func testPasswords(t *testing.T, s suite) {
	ctx, later := t.Context(), time.Now().Add(time.Hour)
	p := s.invited("ada@example.com", false, nil)
	here, there := s.session(p.ID, later), s.session(p.ID, later)
	s.wakes("another session", there.ID, func() {
		s.must(s.SetPassword(ctx, p.ID, "second", &here.ID, by("person.password_changed", "person", p.ID)))
	})
	s.counts("the session that changed it", ofSession(here.ID), true)
	s.counts("every other session", ofSession(there.ID), false)
	s.must(s.Rehash(ctx, p.ID, "first", "wrong"))
	s.must(s.Rehash(ctx, p.ID, "second", "second, stronger"))
	hash, err := s.PasswordHash(ctx, p.ID)
	s.must(err)
	same(t, "hash", hash, "second, stronger")
	s.counts("after a stronger hash", ofSession(here.ID), true)
	s.must(s.SetPassword(ctx, p.ID, "third", nil, environment.Activity{}))
	s.counts("with none kept", ofSession(here.ID), false)
	err = s.SetPassword(ctx, environment.NewID(), "x", nil, environment.Activity{})
	s.code("a password of nobody", err, environment.KindNotFound, "person_not_found")
}
