package probing

import (
	"context"
	"encoding/json"
	"time"

	"berth/environment"
)

// cleanupRoom is the time that is set apart for taking a probe's sandbox down.
const cleanupRoom = 30 * time.Second

// limitOf is how long a probe may take in all: for a sandbox there must be room
// for its start, whatever its configuration allows for that, and for its end.
func (s *Service) limitOf(key environment.DriverKey, config json.RawMessage) time.Duration {
	if key.Driver != environment.DriverSandbox {
		return s.opts.Limit
	}
	limit := environment.SandboxProbeLimit // enough for what starts a sandbox within the usual budget
	if b, err := environment.Ability[environment.Budgeter](s.drivers, key); err == nil {
		limit = max(limit, b.StartupBudget(config)+identifyLimit+examineLimit+examineSlack+cleanupRoom)
	}
	return limit
}

// roomFor is KindConflict with code budget_exhausted when an environment's budget
// has no room for one more lease. The lease itself is judged once more.
func (s *Service) roomFor(ctx context.Context, env environment.Environment) error {
	if env.Budget == nil {
		return nil
	}
	used, err := s.store.Usage(ctx, env.ID)
	if err != nil {
		return err
	}
	limit := env.Budget.Exhausted(used)
	if limit == "" {
		return nil
	}
	return environment.Conflict(environment.CodeBudgetExhausted, "The budget of "+env.Name+" has no room for a test, which makes a sandbox.").
		Remedy(environment.Remedy(environment.CodeBudgetExhausted)).With("limit", limit)
}
