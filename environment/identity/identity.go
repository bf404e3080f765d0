// Package identity knows who somebody is: people and their sessions and tokens,
// agents' keys, invitations, and the roles that people have.
package identity

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// Store is what identity needs of the database. Each method is one transaction;
// each write that takes an Activity also writes it.
type Store interface {
	// ActorOfSession is the actor of a session that counts: not expired, of a
	// person who is not disabled. Else KindUnauthenticated with code
	// session_ended. It notes when the session was last seen, at most once a
	// minute. ActorOfKey likewise, with code invalid_key: not revoked, not
	// expired, of a person or an agent who is not disabled.
	ActorOfSession(ctx context.Context, id uuid.UUID) (environment.Actor, error)
	ActorOfKey(ctx context.Context, hash []byte) (environment.Actor, error)
	// Counts tells whether a credential still counts, and gives its actor as of
	// now; errors as above.
	Counts(context.Context, environment.Credential) (environment.Actor, error)

	// PersonByEmail finds whoever signs in, with the hash of the password;
	// KindNotFound with code person_not_found.
	PersonByEmail(ctx context.Context, email string) (environment.Person, string, error)
	Person(ctx context.Context, id uuid.UUID) (environment.Person, error)
	PasswordHash(ctx context.Context, id uuid.UUID) (string, error)
	// People are all, by name; Members those of a company.
	People(ctx context.Context, limit int, cursor string) (environment.Page[environment.Person], error)
	Members(ctx context.Context, company uuid.UUID) ([]environment.Person, error)
	// UpdatePerson is KindConflict with code last_admin when it would leave the
	// instance without an instance admin who may sign in, and email_taken. It
	// ends the sessions of somebody who is disabled, and wakes the subject of
	// each of the person's credentials.
	UpdatePerson(ctx context.Context, id uuid.UUID, p PersonPatch, a environment.Activity) (environment.Person, error)
	// SetRole gives a role in a company; "" takes it away. It wakes as above.
	SetRole(ctx context.Context, person, company uuid.UUID, role environment.Role, a environment.Activity) error
	// SetPassword stores a hash and ends every session of the person but keep.
	SetPassword(ctx context.Context, person uuid.UUID, hash string, keep *uuid.UUID, a environment.Activity) error
	// Rehash puts a stronger hash of the same password in the place of from; it
	// does nothing when the password was changed meanwhile, and ends no session.
	Rehash(ctx context.Context, person uuid.UUID, from, to string) error
	// Company is KindNotFound with code company_not_found.
	Company(context.Context, uuid.UUID) (environment.Company, error)

	CreateSession(ctx context.Context, s environment.Session, expires time.Time, a environment.Activity) error
	Sessions(ctx context.Context, person uuid.UUID) ([]environment.Session, error)
	// EndSessions ends those of the ids that are the person's; with none, all.
	// It returns how many and wakes each one's subject.
	EndSessions(ctx context.Context, person uuid.UUID, ids []uuid.UUID, a environment.Activity) (int, error)

	CreateKey(ctx context.Context, k environment.Key, hash []byte, a environment.Activity) error
	KeysOfPerson(ctx context.Context, person uuid.UUID) ([]environment.Key, error)
	KeysOfAgent(ctx context.Context, agent uuid.UUID) ([]environment.Key, error)
	// RevokeKey revokes a key of that holder (a person or an agent); KindNotFound
	// with code key_not_found. Twice is not an error.
	RevokeKey(ctx context.Context, holder, id uuid.UUID, a environment.Activity) error

	// CreateLink revokes the open links of the same kind and e-mail address.
	CreateLink(ctx context.Context, l environment.Link, hash []byte, a environment.Activity) error
	// Link finds a link by its token's hash, and Links the open ones; KindNotFound
	// with code link_not_found.
	Link(ctx context.Context, hash []byte) (environment.Link, error)
	Links(ctx context.Context) ([]environment.Link, error)
	RevokeLink(ctx context.Context, id uuid.UUID, a environment.Activity) error
	// Redeem uses an open link up, once: it makes the person (or sets the password
	// of the one it names) with the link's rights. KindConflict with code
	// link_used when it is not open any more, email_taken; for the first admin
	// also admin_exists when there is one by now.
	Redeem(ctx context.Context, hash []byte, p environment.Person, passwordHash string, a environment.Activity) (environment.Person, error)
	// HasAdmin tells whether an instance admin can sign in.
	HasAdmin(context.Context) (bool, error)

	// SignInFailed counts a failure under each key and returns until when the
	// longest of them must wait; SignInWait reads that; SignedIn forgets them.
	// Failures older than an hour count no more.
	SignInFailed(ctx context.Context, keys []string) (time.Time, error)
	SignInWait(ctx context.Context, keys []string) (time.Time, error)
	SignedIn(ctx context.Context, keys []string) error

	Agents(ctx context.Context, company uuid.UUID) ([]environment.Agent, error)
	// Agent is KindNotFound with code agent_not_found.
	Agent(ctx context.Context, id uuid.UUID) (environment.Agent, error)
	// CreateAgent is KindConflict with code name_taken, KindInvalid with
	// environment_not_found or environment_inactive; UpdateAgent likewise. One
	// that is disabled is told to its keys as UpdatePerson says.
	CreateAgent(context.Context, environment.Agent, environment.Activity) error
	UpdateAgent(ctx context.Context, id uuid.UUID, p AgentPatch, a environment.Activity) (environment.Agent, error)

	// Record writes an entry of the activity log by itself.
	Record(context.Context, environment.Activity) error
}

// Hasher turns passwords into what is stored. Implementations: store/vault.
type Hasher interface {
	// Hash takes a quarter of a second or so, on purpose.
	Hash(environment.Secret) (string, error)
	// Matches takes as long for a wrong one. stale says that the hash was made
	// with weaker numbers than today's.
	Matches(hash string, password environment.Secret) (ok, stale bool)
}

// PersonPatch changes what is not nil.
type PersonPatch struct {
	Name          *string
	Email         *string
	InstanceAdmin *bool
	Disabled      *bool
}

// AgentPatch changes what is not nil.
type AgentPatch struct {
	Name                 *string
	AdapterType          *string
	Status               *environment.AgentStatus
	DefaultEnvironmentID *uuid.UUID
	ClearDefault         bool
}

// Options are a Service's numbers; zero gives the product's.
type Options struct {
	SessionLife    time.Duration // 14 days
	InvitationLife time.Duration // 7 days
	FirstAdminLife time.Duration // 24 hours
}

// Service is identity.
type Service struct {
	store  Store
	hasher Hasher
	random io.Reader
	opts   Options
	now    func() time.Time
	log    *slog.Logger
}

// New returns the service. All arguments are needed.
func New(store Store, hasher Hasher, random io.Reader, opts Options, now func() time.Time, log *slog.Logger) *Service {
	return &Service{store: store, hasher: hasher, random: random, opts: opts, now: now, log: log}
}

// Client is where a sign-in comes from.
type Client struct {
	Address   string // without port
	UserAgent string
}

var errNotYet = errors.New("not built yet")

// SignIn checks a password and makes a session, which it returns with the
// actor. KindUnauthenticated with code sign_in_failed for a wrong password, an
// unknown address and a disabled person alike, after the same time; KindLimited
// with code rate_limited and detail "retryAfterSec" while a wait is on.
func (s *Service) SignIn(ctx context.Context, email string, password environment.Secret, from Client) (environment.Session, environment.Actor, error) {
	return environment.Session{}, environment.Actor{}, errNotYet
}

// SignInForToken is SignIn for a program: it makes a personal token instead of a
// session. The text is shown once.
func (s *Service) SignInForToken(ctx context.Context, email string, password environment.Secret, name string, from Client) (environment.Key, environment.Secret, error) {
	return environment.Key{}, environment.Secret{}, errNotYet
}

// BySession returns the actor of a session; KindUnauthenticated with code
// session_ended.
func (s *Service) BySession(ctx context.Context, id uuid.UUID) (environment.Actor, error) {
	return environment.Actor{}, errNotYet
}

// ByBearer returns the actor of an Authorization header's bearer text;
// KindUnauthenticated with code invalid_key for whatever does not count.
func (s *Service) ByBearer(ctx context.Context, text string) (environment.Actor, error) {
	return environment.Actor{}, errNotYet
}

// Again asks whether the actor's credential still counts and returns the actor
// with the roles of now. The local operator always counts.
func (s *Service) Again(ctx context.Context, actor environment.Actor) (environment.Actor, error) {
	return actor, errNotYet
}

// SignOut ends one's own session.
func (s *Service) SignOut(ctx context.Context, actor environment.Actor) error { return errNotYet }

// Account is one's own page.
type Account struct {
	Person   environment.Person
	Sessions []environment.Session
	Tokens   []environment.Key
}

// Account returns the actor's own account.
func (s *Service) Account(ctx context.Context, actor environment.Actor) (Account, error) {
	return Account{}, errNotYet
}

// Rename changes one's own name.
func (s *Service) Rename(ctx context.Context, actor environment.Actor, name string) (environment.Person, error) {
	return environment.Person{}, errNotYet
}

// ChangePassword asks for the old password (KindInvalid at the field
// currentPassword), ends every other session and keeps this one.
func (s *Service) ChangePassword(ctx context.Context, actor environment.Actor, old, next environment.Secret) error {
	return errNotYet
}

// EndSessions ends the actor's own sessions of those ids; with none, all of
// them, this one too: sign out everywhere. It returns how many.
func (s *Service) EndSessions(ctx context.Context, actor environment.Actor, ids ...uuid.UUID) (int, error) {
	return 0, errNotYet
}

// CreateToken makes a personal token; its text is shown once. lifeDays 0 never
// expires; at most 3650.
func (s *Service) CreateToken(ctx context.Context, actor environment.Actor, name string, lifeDays int) (environment.Key, environment.Secret, error) {
	return environment.Key{}, environment.Secret{}, errNotYet
}

// RevokeToken revokes one of one's own.
func (s *Service) RevokeToken(ctx context.Context, actor environment.Actor, id uuid.UUID) error {
	return errNotYet
}

// FirstAdminLink makes the link for the first admin; "" when there is one.
func (s *Service) FirstAdminLink(ctx context.Context) (environment.Secret, error) {
	return environment.Secret{}, errNotYet
}

// OpenLink tells what a link's token is for; KindNotFound with code
// link_not_found, KindConflict with code link_used (detail "why": used, expired
// or revoked).
func (s *Service) OpenLink(ctx context.Context, token string) (environment.Link, error) {
	return environment.Link{}, errNotYet
}

// Redeem uses a link: it makes the person, or sets the password of the one the
// link is for, and signs in. Email counts for the first admin only.
func (s *Service) Redeem(ctx context.Context, token string, in Redemption, from Client) (environment.Session, environment.Actor, error) {
	return environment.Session{}, environment.Actor{}, errNotYet
}

// Redemption is what somebody with a link enters.
type Redemption struct {
	Email    string
	Name     string
	Password environment.Secret
}

// Invitation is what an instance admin offers.
type Invitation struct {
	Email         string
	InstanceAdmin bool
	Roles         map[uuid.UUID]environment.Role
}

// Invite makes an invitation; its token is shown once. KindConflict with code
// email_taken for somebody who is here already.
func (s *Service) Invite(ctx context.Context, actor environment.Actor, in Invitation) (environment.Link, environment.Secret, error) {
	return environment.Link{}, environment.Secret{}, errNotYet
}

// ResetLink makes a link with which a person sets a new password.
func (s *Service) ResetLink(ctx context.Context, actor environment.Actor, person uuid.UUID) (environment.Link, environment.Secret, error) {
	return environment.Link{}, environment.Secret{}, errNotYet
}

// Links are the open ones.
func (s *Service) Links(ctx context.Context, actor environment.Actor) ([]environment.Link, error) {
	return nil, errNotYet
}

// RevokeLink makes a link worthless.
func (s *Service) RevokeLink(ctx context.Context, actor environment.Actor, id uuid.UUID) error {
	return errNotYet
}

// People lists everybody.
func (s *Service) People(ctx context.Context, actor environment.Actor, limit int, cursor string) (environment.Page[environment.Person], error) {
	return environment.Page[environment.Person]{}, errNotYet
}

// Person returns one.
func (s *Service) Person(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Person, error) {
	return environment.Person{}, errNotYet
}

// UpdatePerson changes a person; nobody can disable or demote the last admin.
func (s *Service) UpdatePerson(ctx context.Context, actor environment.Actor, id uuid.UUID, p PersonPatch) (environment.Person, error) {
	return environment.Person{}, errNotYet
}

// SignOutPerson ends every session of somebody, and revokes every token with
// tokens.
func (s *Service) SignOutPerson(ctx context.Context, actor environment.Actor, id uuid.UUID, tokens bool) (int, error) {
	return 0, errNotYet
}

// Members are the people of a company with their roles there.
func (s *Service) Members(ctx context.Context, actor environment.Actor, company uuid.UUID) ([]environment.Person, error) {
	return nil, errNotYet
}

// SetRole gives somebody a role in a company; "" takes it away.
func (s *Service) SetRole(ctx context.Context, actor environment.Actor, person, company uuid.UUID, role environment.Role) error {
	return errNotYet
}

// Agents are those of a company, by name.
func (s *Service) Agents(ctx context.Context, actor environment.Actor, company uuid.UUID) ([]environment.Agent, error) {
	return nil, errNotYet
}

// Agent returns one with its keys.
func (s *Service) Agent(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Agent, []environment.Key, error) {
	return environment.Agent{}, nil, errNotYet
}

// NewAgent is an agent to be.
type NewAgent struct {
	Name                 string
	AdapterType          string
	DefaultEnvironmentID *uuid.UUID
}

// CreateAgent makes an agent of a company.
func (s *Service) CreateAgent(ctx context.Context, actor environment.Actor, company uuid.UUID, in NewAgent) (environment.Agent, error) {
	return environment.Agent{}, errNotYet
}

// UpdateAgent changes one; a disabled agent's keys count no more.
func (s *Service) UpdateAgent(ctx context.Context, actor environment.Actor, id uuid.UUID, p AgentPatch) (environment.Agent, error) {
	return environment.Agent{}, errNotYet
}

// CreateAgentKey makes a key; its text is shown once.
func (s *Service) CreateAgentKey(ctx context.Context, actor environment.Actor, agent uuid.UUID, name string, lifeDays int) (environment.Key, environment.Secret, error) {
	return environment.Key{}, environment.Secret{}, errNotYet
}

// RevokeAgentKey revokes one.
func (s *Service) RevokeAgentKey(ctx context.Context, actor environment.Actor, agent, id uuid.UUID) error {
	return errNotYet
}

// Refused notes an attempt that was refused, in the activity log: once for each,
// and at most a hundred a minute from one actor, so that nobody fills the disk.
func (s *Service) Refused(ctx context.Context, actor environment.Actor, method, route, code, subject string) {
}
