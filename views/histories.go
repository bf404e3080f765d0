package views

import (
	"strings"
	"time"

	"berth/environment"
	"berth/views/ui"
)

// ListState is whether a list beside an environment has anything.
type ListState string

// The states of such a list.
const (
	ListFilled ListState = "filled"
	ListNone   ListState = "none"
)

func listState(n int) ListState {
	if n == 0 {
		return ListNone
	}
	return ListFilled
}

// ProbeHistoryProps are the tests of an environment, newest first.
type ProbeHistoryProps struct {
	state  ListState
	probes []environment.Probe
	spark  ui.SparkProps
	oob    bool
	now    time.Time
}

// Beside is the list as a part of an answer that is about something else.
func (p ProbeHistoryProps) Beside() ProbeHistoryProps {
	p.oob = true
	return p
}

// NewProbeHistory makes the list of tests.
func NewProbeHistory(probes []environment.Probe, recent []environment.ProbeMark, now time.Time) ProbeHistoryProps {
	return ProbeHistoryProps{state: listState(len(probes)), probes: probes, spark: sparkline(recent), now: now}
}

// none says why no test is listed: those of other companies are not.
func (p ProbeHistoryProps) none() string {
	if len(p.spark.Marks) > 0 {
		return "None of its tests was for a company of yours."
	}
	return "It was never tested. A test leaves nothing running."
}

// leaseReason says why a lease ended as it did; "" when that needs no word.
func leaseReason(l environment.Lease) string {
	switch {
	case l.FailureReason == nil:
		return ""
	case *l.FailureReason == environment.CodeTerminationUnproven:
		return "given back, but not proven that nothing of the run is left"
	}
	return strings.ReplaceAll(*l.FailureReason, "_", " ")
}

func leasePill(s environment.LeaseStatus) pill {
	word := strings.ReplaceAll(string(s), "_", " ")
	word = strings.ToUpper(word[:1]) + word[1:]
	switch s {
	case environment.LeaseActive, environment.LeaseAcquiring, environment.LeaseReleasing:
		return pill{ui.Busy, word}
	case environment.LeaseFailed:
		return pill{ui.Bad, word}
	case environment.LeasePendingCleanup, environment.LeaseExpired, environment.LeaseRetained:
		return pill{ui.Warn, word}
	}
	return pill{ui.Plain, word}
}
