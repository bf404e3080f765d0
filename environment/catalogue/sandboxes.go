package catalogue

import (
	"context"
	"encoding/json"
	"errors"

	"berth/environment"

	"github.com/google/uuid"
)

var errUnbuilt = errors.New("not built yet")

// Fingerprints are of a saved row and the versions that its references lead to
// now. No secret is opened for them.
func (s *Service) Fingerprints(ctx context.Context, env environment.Environment) (environment.Fingerprints, error) {
	return environment.Fingerprints{}, nil
}

// Admission is whether native work may start in an environment for a company, and
// from what. It asks no provider and opens no secret.
func (s *Service) Admission(ctx context.Context, env environment.Environment, company uuid.UUID) (environment.Admission, error) {
	return environment.Admission{}, errUnbuilt
}

// QualificationView is what a page shows of a qualification: never the record.
type QualificationView struct {
	Admission environment.Admission
	CompanyID uuid.UUID
	// Platform and MeasuredAt are nil unless something is recorded.
	Platform   *environment.Platform
	MeasuredAt *string
	RevokedFor string
	RevokedBy  string
	// Last is the newest probe's own word.
	Last *environment.QualificationResult
	// Pin is the reference with the digest that the last probe of this config read,
	// which one click would save; "" when there is nothing to pin.
	Pin string
}

// Qualification is the notice of an environment's page.
func (s *Service) Qualification(ctx context.Context, actor environment.Actor, id uuid.UUID, company uuid.UUID) (QualificationView, error) {
	return QualificationView{}, errUnbuilt
}

// PinImage saves the digest that the last probe of this config read for the tag.
// KindConflict with code nothing_to_pin when it read none, KindStale with code
// stale_revision when the row has another revision.
func (s *Service) PinImage(ctx context.Context, actor environment.Actor, id uuid.UUID, ifRevision *int) (environment.EnvironmentView, error) {
	return environment.EnvironmentView{}, errUnbuilt
}

// CleanupSpec implements leasing.Specs.
func (s *Service) CleanupSpec(ctx context.Context, environmentID, companyID *uuid.UUID, driver string, config json.RawMessage) (environment.Spec, error) {
	return environment.Spec{Driver: driver, Config: config}, nil
}

// ProvisionManaged makes the managed sandbox be what the configuration says; nil
// when there is no configuration: its marker stays, and grants nothing.
func (s *Service) ProvisionManaged(ctx context.Context, m *environment.ManagedSandbox) error {
	return errUnbuilt
}
