package views

import (
	"time"

	"berth/environment"
	"berth/views/ui"
)

// LeaseDestroyState is whether a sandbox can be destroyed.
type LeaseDestroyState string

// The states of the dialog.
const (
	LeaseDestroyReady   LeaseDestroyState = "ready"
	LeaseDestroyRefused LeaseDestroyState = "refused" // somebody is at work in it, or the provider failed
	LeaseDestroyOver    LeaseDestroyState = "over"    // nothing is held any more
)

// LeaseDestroyProps asks whether a sandbox is to be destroyed.
type LeaseDestroyProps struct {
	state   LeaseDestroyState
	row     LeaseRowProps
	failure string
}

// NewLeaseDestroy makes the dialog; failed is why the last attempt was refused, nil
// for none.
func NewLeaseDestroy(l environment.Lease, failed *environment.Error, now time.Time) LeaseDestroyProps {
	p := LeaseDestroyProps{state: LeaseDestroyReady, row: NewLeaseRow(l, "", true, now)}
	switch {
	case l.Status.Ended():
		p.state = LeaseDestroyOver
	case failed != nil:
		p.state, p.failure = LeaseDestroyRefused, failed.Message+" "+failed.Remediation
	case p.row.inUse() != "":
		p.state, p.failure = LeaseDestroyRefused, p.row.inUse()
	}
	return p
}

func (p LeaseDestroyProps) facts() []ui.Pair {
	l := p.row.lease
	pairs := []ui.Pair{{Key: "Environment", Value: p.row.target()}, {Key: "State", Value: p.row.pill().text}}
	if id := text(l.ProviderID); id != "" {
		pairs = append(pairs, ui.Pair{Key: "Sandbox", Value: id, Code: true})
	}
	return append(pairs, ui.Pair{Key: "Held by", Value: p.row.holder()}, ui.Pair{Key: "Since", Value: ui.Ago(l.AcquiredAt, p.row.now)})
}
