package environmenttest

import (
	"context"
	"time"

	"berth/environment"
	"berth/environment/fleet"

	"github.com/google/uuid"
)

type server struct {
	node    uuid.UUID
	beat    time.Time
	retired bool
}

// RegisterServer implements fleet.Store.
func (s *Store) RegisterServer(_ context.Context, id, node uuid.UUID, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other, srv := range s.servers {
		if srv.node == node && other != id {
			srv.retired = true
		}
	}
	s.servers[id] = &server{node: node, beat: s.now()}
	return nil
}

// BeatServer implements fleet.Store.
func (s *Store) BeatServer(_ context.Context, id uuid.UUID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	srv, ok := s.servers[id]
	if !ok || srv.retired {
		return environment.Conflict("server_retired", "This server was declared dead: another one runs on its data folder.")
	}
	srv.beat = s.now()
	return nil
}

// RetireServer implements fleet.Store.
func (s *Store) RetireServer(_ context.Context, id uuid.UUID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if srv, ok := s.servers[id]; ok {
		srv.retired = true
	}
	return nil
}

// dead reports whether nobody looks after what a server owns.
func (s *Store) dead(id uuid.UUID) bool {
	srv, ok := s.servers[id]
	return !ok || srv.retired || s.now().Sub(srv.beat) > fleet.DeadAfter
}

// retired reports whether a server has ended, for sure.
func (s *Store) retired(id uuid.UUID) bool {
	srv, ok := s.servers[id]
	return ok && srv.retired
}
