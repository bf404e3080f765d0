package fleet_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/environment"
	"berth/environment/fleet"

	"github.com/google/uuid"
)

// servers is a store that notes what it was asked.
type servers struct {
	mu         sync.Mutex
	registered []uuid.UUID
	beats      []time.Time
	retired    []uuid.UUID
	refuse     error
	hang       bool
}

func (s *servers) RegisterServer(_ context.Context, id, _ uuid.UUID, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.registered = append(s.registered, id)
	return s.refuse
}

func (s *servers) BeatServer(context.Context, uuid.UUID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beats = append(s.beats, time.Now())
	return s.refuse
}

func (s *servers) RetireServer(ctx context.Context, id uuid.UUID) error {
	if s.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retired = append(s.retired, id)
	return ctx.Err()
}

func join(t *testing.T, s *servers, log *slog.Logger) *fleet.Member {
	t.Helper()
	m, err := fleet.Join(t.Context(), s, environment.NewID(), environment.NewID(), "test", log)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMemberBeatsUntilItRetires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &servers{}
		m := join(t, s, slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		began := time.Now()
		go func() { done <- m.Run(ctx) }()
		<-time.After(5*fleet.Beat + time.Millisecond) // synctest's clock
		stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if len(s.registered) != 1 || len(s.retired) != 1 || s.retired[0] != m.ID {
			t.Errorf("registered %v, retired %v", s.registered, s.retired)
		}
		if len(s.beats) != 5 {
			t.Fatalf("%d beats in five intervals", len(s.beats))
		}
		for i, at := range s.beats {
			if want := time.Duration(i+1) * fleet.Beat; at.Sub(began) != want {
				t.Errorf("beat %d came after %s, want %s", i, at.Sub(began), want)
			}
		}
	})
}

func TestABeatThatFailsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &servers{}
		var log strings.Builder
		m := join(t, s, slog.New(slog.NewTextHandler(&log, nil)))
		s.refuse = errors.New("the database is gone")
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- m.Run(ctx) }()
		<-time.After(3*fleet.Beat + time.Millisecond)
		stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if len(s.beats) != 3 {
			t.Errorf("%d beats, want one an interval although each fails", len(s.beats))
		}
		if !strings.Contains(log.String(), "the database is gone") {
			t.Errorf("the log says nothing: %q", log.String())
		}
	})
}

// TestRetiringDoesNotHoldUpTheStop: a database that does not answer must not
// keep the server from stopping.
func TestRetiringDoesNotHoldUpTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &servers{hang: true}
		m := join(t, s, slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		stop()
		began := time.Now()
		if err := m.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Run ends with %v", err)
		}
		if waited := time.Since(began); waited > 2*time.Second {
			t.Errorf("the stop took %s", waited)
		}
	})
}

func TestJoinTellsWhyItCannot(t *testing.T) {
	refusal := errors.New("no database")
	s := &servers{refuse: refusal}
	if _, err := fleet.Join(t.Context(), s, environment.NewID(), environment.NewID(), "test", slog.New(slog.DiscardHandler)); !errors.Is(err, refusal) {
		t.Errorf("Join gives %v", err)
	}
}

func TestDeadAfterAllowsForLostBeats(t *testing.T) {
	if fleet.DeadAfter < 3*fleet.Beat {
		t.Error("two lost beats make a server dead")
	}
}
