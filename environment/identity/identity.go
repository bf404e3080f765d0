// Package identity knows who somebody is: people and their sessions and tokens,
// agents' keys, invitations, and the roles that people have.
package identity

import (
	"cmp"
	"context"
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
	People(ctx context.Context, query string, limit int, cursor string) (environment.Page[environment.Person], error)
	Members(ctx context.Context, company uuid.UUID) ([]environment.Person, error)
	// UpdatePerson is KindConflict with code last_admin when it would leave the
	// instance without an instance admin who may sign in, and email_taken. It
	// ends the sessions of somebody who is disabled, and wakes the subject of
	// each of the person's credentials.
	UpdatePerson(ctx context.Context, id uuid.UUID, p PersonPatch, a environment.Activity) (environment.Person, error)
	// SetRole gives a role in a company; "" takes it away. It wakes as above.
	SetRole(ctx context.Context, person, company uuid.UUID, role environment.Role, a environment.Activity) error
	// SetPassword stores a hash, ends every session of the person but keep and
	// revokes the person's open links.
	SetPassword(ctx context.Context, person uuid.UUID, hash string, keep *uuid.UUID, a environment.Activity) error
	// Rehash puts a stronger hash of the same password in the place of from; it
	// does nothing when the password was changed meanwhile, and ends no session.
	Rehash(ctx context.Context, person uuid.UUID, from, to string) error
	// Company is KindNotFound with code company_not_found.
	Company(context.Context, uuid.UUID) (environment.Company, error)
	Settings(context.Context) (environment.Settings, error)

	CreateSession(ctx context.Context, s environment.Session, expires time.Time, a environment.Activity) error
	Sessions(ctx context.Context, person uuid.UUID) ([]environment.Session, error)
	// EndSessions ends those of the ids that are the person's; with none, all.
	// It returns how many and wakes each one's subject.
	EndSessions(ctx context.Context, person uuid.UUID, ids []uuid.UUID, a environment.Activity) (int, error)

	// CreateKey is KindConflict with code too_many_keys when the holder has most
	// keys that count already, be they made by another server at the same time.
	CreateKey(ctx context.Context, k environment.Key, hash []byte, most int, a environment.Activity) error
	KeysOfPerson(ctx context.Context, person uuid.UUID) ([]environment.Key, error)
	KeysOfAgent(ctx context.Context, agent uuid.UUID) ([]environment.Key, error)
	// RevokeKey revokes a key of that holder (a person or an agent); KindNotFound
	// with code key_not_found. Twice is not an error.
	RevokeKey(ctx context.Context, holder, id uuid.UUID, a environment.Activity) error

	// CreateLink revokes the open links of the same kind and e-mail address, and
	// those of the person it is for.
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
	// Hash takes a tenth of a second or so, and much memory, on purpose.
	Hash(environment.Secret) (string, error)
	// Matches takes as long for a wrong one. stale says that the hash was made
	// with weaker numbers than today's.
	Matches(hash string, password environment.Secret) (ok, stale bool)
}

// Options are a Service's numbers; zero gives the product's.
type Options struct {
	SessionLife    time.Duration // 14 days
	InvitationLife time.Duration // 7 days
	FirstAdminLife time.Duration // 24 hours
}

// Service is identity.
type Service struct {
	store    Store
	hasher   Hasher
	random   io.Reader
	opts     Options
	now      func() time.Time
	log      *slog.Logger
	slots    chan struct{} // one for each password that is being hashed
	refusals refusals
}

// New returns the service. All arguments are needed.
func New(store Store, hasher Hasher, random io.Reader, opts Options, now func() time.Time, log *slog.Logger) *Service {
	return &Service{
		store: store, hasher: hasher, random: random, opts: opts.orProduct(), now: now, log: log,
		slots: make(chan struct{}, maxHashes), refusals: refusals{of: map[string]*refusalCount{}},
	}
}

// orProduct puts the product's numbers in the place of zero ones.
func (o Options) orProduct() Options {
	o.SessionLife = cmp.Or(o.SessionLife, 14*24*time.Hour)
	o.InvitationLife = cmp.Or(o.InvitationLife, 7*24*time.Hour)
	o.FirstAdminLife = cmp.Or(o.FirstAdminLife, 24*time.Hour)
	return o
}
