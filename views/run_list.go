package views

import (
	"time"

	"berth/environment"
)

// RunListProps are runs, newest first.
type RunListProps struct {
	state ListState
	runs  []environment.Run
	now   time.Time
}

// NewRunList makes the list of runs.
func NewRunList(runs []environment.Run, now time.Time) RunListProps {
	return RunListProps{state: listState(len(runs)), runs: runs, now: now}
}
