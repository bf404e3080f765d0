package environment

import "time"

// How long is kept what nobody would miss. Runs, their output, the probes of
// saved environments and the activity log are kept for good.
const (
	DraftsKept      = 7 * 24 * time.Hour // probes of forms that were not saved
	AccessesKept    = 1000               // notes of openings, of one secret
	AccessesKeptFor = 400 * 24 * time.Hour
)
