package catalogue

import (
	"context"
	"encoding/json"
	"fmt"

	"berth/environment"

	"github.com/google/uuid"
)

// CleanupSpec implements leasing.Specs: it opens what a lease's own config refers
// to, for cleanup only. That config need not be the saved one, and its environment
// need not be there: then secrets that it owned open as long as they stay, retired.
// That one secret is opened so again and again is noted once an hour.
func (s *Service) CleanupSpec(ctx context.Context, environmentID, companyID *uuid.UUID, driver string, config json.RawMessage) (environment.Spec, error) {
	spec := environment.Spec{
		Driver: driver, Config: config, CompanyID: companyID,
		Secrets: map[string]environment.Secret{}, SecretProblems: map[string]string{},
	}
	if environmentID != nil {
		spec.EnvironmentID = *environmentID
	}
	use := environment.SecretUse{Purpose: environment.ForCleanup, CompanyID: companyID, ActorName: environment.System().Name}
	o := &opening{s: s, owner: spec.EnvironmentID, use: use}
	defer func() {
		o.notes = s.cleanup.due(o.notes)
		o.finish(ctx)
	}()
	if err := o.config(ctx, &spec); err != nil {
		return environment.Spec{}, fmt.Errorf("open a %s configuration for cleanup: %w", driver, err)
	}
	return spec, nil
}
