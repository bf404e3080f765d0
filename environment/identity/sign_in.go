package identity

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"net/netip"
	"strings"

	"berth/environment"

	"github.com/google/uuid"
)

// Client is where a sign-in comes from.
type Client struct {
	Address   string // without port
	UserAgent string
}

// Network is what one client is told apart by: an IPv4 address, or the /64 that an
// IPv6 client has to itself.
func (c Client) Network() string {
	a, err := netip.ParseAddr(c.Address)
	if err != nil || !a.Is6() || a.Is4In6() {
		return c.Address
	}
	return netip.PrefixFrom(a.WithZone(""), 64).Masked().String()
}

// SignIn checks a password and makes a session, which it returns with the
// actor. KindUnauthenticated with code sign_in_failed for a wrong password, an
// unknown address and a disabled person alike, after the same time; KindLimited
// with code rate_limited and detail "retryAfterSec" while a wait is on;
// KindUnavailable with code busy while too many others sign in.
func (s *Service) SignIn(ctx context.Context, email string, password environment.Secret, from Client) (environment.Session, environment.Actor, error) {
	person, hash, err := s.prove(ctx, email, password, from)
	if err != nil {
		return environment.Session{}, environment.Actor{}, err
	}
	session, actor, err := s.begin(ctx, person, from)
	if err != nil {
		return environment.Session{}, environment.Actor{}, err
	}
	if err := s.stillCounts(ctx, session, hash, password); err != nil {
		return environment.Session{}, environment.Actor{}, err
	}
	return session, actor, nil
}

// stillCounts ends a session whose password was changed between its proof and
// its beginning: the change ended every session that there was, and this one was
// not there yet.
func (s *Service) stillCounts(ctx context.Context, session environment.Session, proven string, password environment.Secret) error {
	hash, err := s.store.PasswordHash(ctx, session.PersonID)
	if err == nil && hash == proven {
		return nil
	}
	if err == nil {
		if same, _ := s.hasher.Matches(hash, password); same {
			return nil // only hashed anew
		}
		err = environment.NewError(environment.KindUnauthenticated, "sign_in_failed", "The e-mail address or the password is wrong.")
	}
	_, ending := s.store.EndSessions(context.WithoutCancel(ctx), session.PersonID, []uuid.UUID{session.ID}, environment.Activity{})
	return errors.Join(err, ending)
}

// SignInForToken is SignIn for a program: it makes a personal token instead of a
// session. The text is shown once.
func (s *Service) SignInForToken(ctx context.Context, email string, password environment.Secret, name string, from Client) (environment.Key, environment.Secret, error) {
	clean, wrong := environment.CleanName(name)
	if wrong != "" {
		return environment.Key{}, environment.Secret{}, problem("name", wrong)
	}
	person, _, err := s.prove(ctx, email, password, from)
	if err != nil {
		return environment.Key{}, environment.Secret{}, err
	}
	return s.makeToken(ctx, asActor(person), clean, 0, map[string]any{"signedInFrom": from.Address})
}

// prove returns the person whose address and password these are, and the hash
// that said so; errors as SignIn.
func (s *Service) prove(ctx context.Context, email string, password environment.Secret, from Client) (environment.Person, string, error) {
	keys := failureKeys(email, from)
	if err := s.mayTry(ctx, keys); err != nil {
		return environment.Person{}, "", err
	}
	person, hash, err := s.byEmail(ctx, email)
	if err != nil {
		return environment.Person{}, "", err
	}
	ok, stale, err := s.matches(ctx, proof{keys: keys, hash: hash, may: person.DisabledAt == nil, password: password})
	switch {
	case err != nil:
		return environment.Person{}, "", err
	case !ok:
		return environment.Person{}, "", s.failed(ctx, email, from)
	}
	if stale {
		s.rehash(ctx, person.ID, hash, password)
	}
	// The other failures stay. With an account of one's own one could else guess at
	// those of others for ever, and those of strangers are not this person's.
	return person, hash, s.store.SignedIn(ctx, keys[:1])
}

// byEmail finds a person and the hash of the password; neither for an address
// that nobody has.
func (s *Service) byEmail(ctx context.Context, email string) (environment.Person, string, error) {
	clean, wrong := environment.CleanEmail(email)
	if wrong != "" {
		return environment.Person{}, "", nil
	}
	person, hash, err := s.store.PersonByEmail(ctx, clean)
	if environment.KindOf(err) == environment.KindNotFound {
		return environment.Person{}, "", nil
	}
	return person, hash, err
}

// failed notes a failure and returns the one answer that there is for it. What
// was typed as the address is not noted: it may have been the password.
func (s *Service) failed(ctx context.Context, email string, from Client) error {
	ctx = context.WithoutCancel(ctx)
	entry := s.entry(ctx, environment.Actor{Name: "somebody"}, "person.sign_in_failed", "instance", uuid.Nil,
		map[string]any{"address": from.Address, "account": accountHash(email)[:16]})
	entry.EntityID = "instance"
	if err := s.store.Record(ctx, entry); err != nil {
		return err
	}
	return environment.NewError(environment.KindUnauthenticated, "sign_in_failed", "The e-mail address or the password is wrong.")
}

// mayTry is KindLimited while one of the keys must wait.
func (s *Service) mayTry(ctx context.Context, keys []string) error {
	until, err := s.store.SignInWait(ctx, keys)
	if err != nil {
		return err
	}
	wait := until.Sub(s.now())
	if wait <= 0 {
		return nil
	}
	return environment.NewError(environment.KindLimited, environment.CodeRateLimited, "That was wrong too often. Wait a little, then try again.").
		With("retryAfterSec", int(math.Ceil(wait.Seconds())))
}

// rehash brings a hash to today's cost. The sign-in goes on without it.
func (s *Service) rehash(ctx context.Context, person uuid.UUID, old string, password environment.Secret) {
	next, err := s.hash(ctx, password)
	if err == nil {
		err = s.store.Rehash(ctx, person, old, next)
	}
	if err != nil {
		s.log.WarnContext(ctx, "hash a password anew", "person", person, "err", err)
	}
}

// failureKeys are what failures are counted under: the account as it is tried from
// there, the account as it is tried from everywhere, and the address.
func failureKeys(email string, from Client) []string {
	return append(accountKeys(email, from.Network()), addressPrefix+from.Network())
}

func accountKeys(email, from string) []string {
	account := accountHash(email)
	return []string{accountPrefix + account + "@" + from, everywherePrefix + account}
}

// accountHash stands for an address that somebody entered, whether there is such
// an account or not.
func accountHash(email string) string {
	sum := sha256.Sum256([]byte(environment.NameKey(strings.TrimSpace(email))))
	return hex.EncodeToString(sum[:])
}

// begin makes a session.
func (s *Service) begin(ctx context.Context, person environment.Person, from Client) (environment.Session, environment.Actor, error) {
	now := s.now()
	session := environment.Session{
		ID: environment.NewID(), PersonID: person.ID, CreatedAt: now, LastSeenAt: now,
		Address: from.Address, UserAgent: shortened(from.UserAgent, maxUserAgent),
	}
	entry := s.entry(ctx, asActor(person), "person.signed_in", "person", person.ID, map[string]any{"address": from.Address, "sessionId": session.ID})
	if err := s.store.CreateSession(ctx, session, now.Add(s.opts.SessionLife), entry); err != nil {
		return environment.Session{}, environment.Actor{}, err
	}
	actor, err := s.store.ActorOfSession(ctx, session.ID)
	return session, actor, err
}

const maxUserAgent = 200

// shortened is text that can be stored, of at most so many characters.
func shortened(text string, most int) string {
	runes := []rune(environment.CleanText(text))
	return string(runes[:min(len(runes), most)])
}
