package environmenttest

import (
	"context"
	"maps"
	"slices"

	"berth/environment"

	"github.com/google/uuid"
)

// AppendOutput implements running.Store.
func (s *Store) AppendOutput(_ context.Context, id, owner uuid.UUID, chunks []environment.LogChunk) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.run(id)
	if err != nil {
		return err
	}
	if owner != uuid.Nil && r.Owner != owner {
		return environment.Conflict("run_taken_over", "Another server looks after this run now.")
	}
	for _, c := range chunks {
		if c = c.Beyond(r.received[c.Stream]); len(c.Data) == 0 {
			continue
		}
		c.Offset, c.Data = r.LogSize, slices.Clone(c.Data)
		r.LogSize, r.received[c.Stream] = c.End(), c.StreamOffset+int64(len(c.Data))
		for _, piece := range []environment.LogChunk{c.Until(environment.LogHead), c.From(environment.LogHead)} {
			if len(piece.Data) > 0 {
				s.emit(id, environment.EventOutput, nil, &piece)
			}
		}
	}
	s.cut(r)
	return nil
}

// cut drops what is no longer kept of a long log.
func (s *Store) cut(r *savedRun) {
	from, to := environment.CutOf(r.LogSize)
	r.LogCut = to - from
	if r.LogCut == 0 {
		return
	}
	s.events = slices.DeleteFunc(s.events, func(e environment.Event) bool {
		return e.Subject == r.ID && e.Chunk != nil && e.Chunk.Offset >= from && e.Chunk.End() <= to
	})
	for i, e := range s.events {
		if e.Subject == r.ID && e.Chunk != nil && e.Chunk.Offset >= from && e.Chunk.Offset < to {
			c := e.Chunk.From(to)
			s.events[i].Chunk = &c
		}
	}
}

// Received implements running.Store.
func (s *Store) Received(_ context.Context, id uuid.UUID) (map[environment.Stream]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.run(id)
	if err != nil {
		return nil, err
	}
	got := map[environment.Stream]int64{environment.Stdout: 0, environment.Stderr: 0}
	maps.Copy(got, r.received)
	return got, nil
}

// Log implements running.Store.
func (s *Store) Log(_ context.Context, id uuid.UUID, offset int64, limit int) (environment.LogPage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.run(id)
	if err != nil {
		return environment.LogPage{}, err
	}
	stored := []environment.LogChunk{}
	for _, e := range s.events {
		if e.Subject == id && e.Chunk != nil && e.Chunk.End() > offset {
			c := *e.Chunk
			c.Data = slices.Clone(c.Data)
			stored = append(stored, c)
		}
	}
	return environment.PageOf(r.Run, max(offset, 0), environment.LogReadLimit(limit), stored), nil
}
