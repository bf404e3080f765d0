package running_test

import (
	"context"
	"time"

	"berth/environment"
	"berth/environment/leasing"

	"github.com/google/uuid"
)

func (s *serverStore) HandOver(ctx context.Context, from, to uuid.UUID, change func(*environment.Lease) error, a *environment.Activity) (lease environment.Lease, err error) {
	err = s.write(func() (err error) {
		lease, err = s.Store.HandOver(ctx, from, to, change, a)
		return err
	})
	return lease, err
}

func (s *serverStore) BeatLeases(ctx context.Context, owner uuid.UUID, ids []uuid.UUID) ([]uuid.UUID, error) {
	if err := s.read(); err != nil {
		return nil, err
	}
	return s.Store.BeatLeases(ctx, owner, ids)
}

func (s *serverStore) ExpiredLeases(ctx context.Context, owner uuid.UUID, limit int) ([]environment.Lease, error) {
	if err := s.read(); err != nil {
		return nil, err
	}
	return s.Store.ExpiredLeases(ctx, owner, limit)
}

func (s *serverStore) ClaimCleanups(ctx context.Context, owner uuid.UUID, limit int, hold time.Duration) ([]environment.Lease, error) {
	if err := s.read(); err != nil {
		return nil, err
	}
	return s.Store.ClaimCleanups(ctx, owner, limit, hold)
}

func (s *serverStore) Sources(ctx context.Context) ([]leasing.Source, error) {
	if err := s.read(); err != nil {
		return nil, err
	}
	return s.Store.Sources(ctx)
}

func (s *serverStore) RevokeQualification(_ context.Context, _, _ uuid.UUID, reason, _ string) error {
	if err := s.read(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revocation = reason
	return nil
}

// revoked is for what a qualification was revoked; "" when none was.
func (s *serverStore) revoked() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revocation
}
