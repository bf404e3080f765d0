package environment

import "slices"

// Rank orders health words for a list sorted by health: what needs somebody
// comes first.
func (h Health) Rank() int {
	order := []Health{HealthUntrusted, HealthUnfit, HealthUnreachable, HealthInterrupted, HealthChanged, HealthWarning,
		HealthUntested, HealthTesting, HealthReady}
	if i := slices.Index(order, h); i >= 0 {
		return i
	}
	return len(order)
}
