// Package environmenttest holds the in-memory twin of the database and the
// suite of rules that it and PostgreSQL both pass, so that a use case tested
// on the twin has been tested on what it will meet.
package environmenttest

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"berth/environment"
	"berth/environment/catalogue"
	"berth/environment/fleet"
	"berth/environment/identity"
	"berth/environment/leasing"
	"berth/environment/probing"
	"berth/environment/running"
	"berth/environment/secrets"

	"github.com/google/uuid"
)

// Stores is all that the use cases need of a database.
type Stores interface {
	catalogue.Store
	probing.Store
	leasing.Store
	running.Store
	identity.Store
	secrets.Store
	BindKeyset(ctx context.Context, primary string, others ...string) error
	fleet.Store
	environment.Feed
}

var _ Stores = (*Store)(nil)

// Store is the twin. Its methods may be called at the same time.
type Store struct {
	now func() time.Time

	mu           sync.Mutex
	seq          int64
	revision     int64
	settings     environment.Settings
	companies    []environment.Company
	environments map[uuid.UUID]*savedEnvironment
	secrets      map[uuid.UUID]*savedSecret
	bindings     map[uuid.UUID][]environment.SecretBinding // by environment
	accesses     []environment.SecretAccess
	keyset       string   // fingerprint
	refused      [][]byte // what begins a value that a key of before sealed
	probes       map[uuid.UUID]*savedProbe
	runs         map[uuid.UUID]*savedRun
	remains      map[uuid.UUID]*savedRemains // by run
	leases       map[uuid.UUID]environment.Lease
	used         map[uuid.UUID]span // of leases
	// started is when the database did: long ago.
	started        time.Time
	qualifications map[qualified]environment.Qualification
	servers        map[uuid.UUID]*server
	activity       []environment.Activity
	events         []environment.Event
	readers        map[uuid.UUID][]chan struct{}
	identities
}

// NewStore returns an empty twin whose clock is now. What goes by the
// database's own clock in PostgreSQL (who is alive) goes by it too.
func NewStore(now func() time.Time) *Store {
	return &Store{now: now,
		settings:     environment.Settings{MaxRunTimeout: int(environment.MaxRunTimeout / time.Second), Revision: 1, UpdatedAt: now()},
		environments: map[uuid.UUID]*savedEnvironment{}, secrets: map[uuid.UUID]*savedSecret{},
		bindings: map[uuid.UUID][]environment.SecretBinding{},
		probes:   map[uuid.UUID]*savedProbe{}, runs: map[uuid.UUID]*savedRun{}, remains: map[uuid.UUID]*savedRemains{}, leases: map[uuid.UUID]environment.Lease{},
		used: map[uuid.UUID]span{}, qualifications: map[qualified]environment.Qualification{},
		servers: map[uuid.UUID]*server{}, readers: map[uuid.UUID][]chan struct{}{}, identities: newIdentities()}
}

// Subscribe implements environment.Feed.
func (s *Store) Subscribe(subject uuid.UUID) (<-chan struct{}, func()) {
	wake := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers[subject] = append(s.readers[subject], wake)
	return wake, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		kept := s.readers[subject][:0]
		for _, r := range s.readers[subject] {
			if r != wake {
				kept = append(kept, r)
			}
		}
		if s.readers[subject] = kept; len(kept) == 0 {
			delete(s.readers, subject)
		}
	}
}

// wake tells the readers of a subject to read again.
func (s *Store) wake(subject uuid.UUID) {
	for _, r := range s.readers[subject] {
		select {
		case r <- struct{}{}:
		default:
		}
	}
}

// bump says that what the list of environments shows has changed.
func (s *Store) bump() {
	s.revision++
	s.wake(environment.CatalogueSubject)
}

// emit appends an event and wakes its subject.
func (s *Store) emit(subject uuid.UUID, kind environment.EventKind, payload any, chunk *environment.LogChunk) int64 {
	s.seq++
	e := environment.Event{Seq: s.seq, Subject: subject, Kind: kind, Chunk: chunk}
	if chunk == nil {
		e.Payload = toJSON(payload)
	} else {
		chunk.Seq = s.seq
	}
	s.events = append(s.events, e)
	s.wake(subject)
	return s.seq
}

// record writes activity; one without an action is none.
func (s *Store) record(a environment.Activity) {
	if a.Action == "" {
		return
	}
	if a.ID == uuid.Nil {
		a.ID = environment.NewID()
	}
	if a.CreatedAt.IsZero() {
		a.CreatedAt = s.now()
	}
	s.activity = append(s.activity, a)
}

// orNow is at, or the present when nobody said a time.
func (s *Store) orNow(at time.Time) time.Time {
	if at.IsZero() {
		return s.now()
	}
	return at
}

func toJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only the domain's own structs come here
	}
	return b
}

// orNull is what a nil document reads as once it is stored.
func orNull(doc json.RawMessage) json.RawMessage {
	if len(doc) == 0 {
		return json.RawMessage("null")
	}
	return append(json.RawMessage(nil), doc...)
}
