package store

import (
	"context"
	"errors"
	"time"

	"berth/environment"
	"berth/environment/leasing"

	"github.com/google/uuid"
)


// HandOver implements leasing.Store.
func (db *DB) HandOver(ctx context.Context, from, to uuid.UUID, change func(*environment.Lease) error, a *environment.Activity) (environment.Lease, error) {
	return environment.Lease{}, errUnbuilt
}

// Retained implements leasing.Store.
func (db *DB) Retained(context.Context, leasing.Scope) ([]environment.Lease, error) { return nil, nil }

// BeatLeases implements leasing.Store.
func (db *DB) BeatLeases(context.Context, uuid.UUID, []uuid.UUID) ([]uuid.UUID, error) { return nil, nil }

// ExpiredLeases implements leasing.Store.
func (db *DB) ExpiredLeases(context.Context, uuid.UUID, int) ([]environment.Lease, error) { return nil, nil }

// ClaimCleanups implements leasing.Store.
func (db *DB) ClaimCleanups(context.Context, uuid.UUID, int, time.Duration) ([]environment.Lease, error) {
	return nil, nil
}

// LeasesByID implements leasing.Store.
func (db *DB) LeasesByID(context.Context, []uuid.UUID) ([]environment.Lease, error) { return nil, nil }

// HeldLeases implements leasing.Store.
func (db *DB) HeldLeases(context.Context, environment.DriverKey) ([]environment.Lease, error) { return nil, nil }

// Sources implements leasing.Store.
func (db *DB) Sources(context.Context) ([]leasing.Source, error) { return nil, nil }

// Usage implements leasing.Store.
func (db *DB) Usage(context.Context, uuid.UUID) (environment.Usage, error) { return environment.Usage{}, nil }

// Qualification implements catalogue.Store and probing.Store.
func (db *DB) Qualification(context.Context, uuid.UUID, uuid.UUID) (*environment.Qualification, error) {
	return nil, nil
}

// RevokeQualification implements running.Store.
func (db *DB) RevokeQualification(context.Context, uuid.UUID, uuid.UUID, string, string) error { return nil }

// ManagedEnvironment implements catalogue.Store and running.Store.
func (db *DB) ManagedEnvironment(context.Context) (environment.EnvironmentView, error) {
	return environment.EnvironmentView{}, environment.NotFound("environment")
}

// SetManagedProvider implements catalogue.Store.
func (db *DB) SetManagedProvider(context.Context, string, environment.Activity) error { return nil }

// ReferredVersions implements catalogue.Store.
func (db *DB) ReferredVersions(context.Context, ...environment.SecretRef) (map[environment.SecretRef]uuid.UUID, error) {
	return map[environment.SecretRef]uuid.UUID{}, nil
}

var errUnbuilt = errors.New("not built yet")
