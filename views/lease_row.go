package views

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"berth/environment"
	"berth/views/ui"
)

// LeaseRowState is how a lease stands: its status, or that its clean-up waits for
// an operator.
type LeaseRowState string

// The states of a lease's row.
const (
	LeaseRowAcquiring  LeaseRowState = "acquiring"
	LeaseRowActive     LeaseRowState = "active"
	LeaseRowReleasing  LeaseRowState = "releasing"
	LeaseRowReleased   LeaseRowState = "released"
	LeaseRowExpired    LeaseRowState = "expired"
	LeaseRowFailed     LeaseRowState = "failed"
	LeaseRowRetained   LeaseRowState = "retained"
	LeaseRowPending    LeaseRowState = "pending_cleanup"
	LeaseRowDeadLetter LeaseRowState = "dead-letter"
)

// LeaseRowProps is one lease of a list.
type LeaseRowProps struct {
	state     LeaseRowState
	lease     environment.Lease
	company   string // "": not shown
	mayManage bool
	oob       bool
	now       time.Time
}

// NewLeaseRow makes a row. company is whose lease it is, by name.
func NewLeaseRow(l environment.Lease, company string, mayManage bool, now time.Time) LeaseRowProps {
	p := LeaseRowProps{state: LeaseRowState(l.Status), lease: l, company: company, mayManage: mayManage, now: now}
	if l.DeadLetterAt != nil && !l.Status.Ended() {
		p.state = LeaseRowDeadLetter
	}
	return p
}

// Beside is the row as a part of an answer that is about something else.
func (p LeaseRowProps) Beside() LeaseRowProps {
	p.oob = true
	return p
}

// LeaseRowID is the id of a lease's row on the page.
func LeaseRowID(l environment.Lease) string { return "lease-" + l.ID.String() }

func (p LeaseRowProps) pill() pill {
	if p.state == LeaseRowDeadLetter {
		return pill{ui.Bad, "Needs an operator"}
	}
	return leasePill(p.lease.Status)
}

// target is the environment by the name that it had.
func (p LeaseRowProps) target() string {
	if p.lease.EnvironmentName != "" {
		return p.lease.EnvironmentName
	}
	if p.lease.EnvironmentID != nil {
		return "environment"
	}
	return "a deleted environment"
}

// heldBy introduces the holder.
func (p LeaseRowProps) heldBy() string {
	if p.lease.Status.Ended() {
		return "Was held by"
	}
	return "Held by"
}

// holder is who holds it, or held it.
func (p LeaseRowProps) holder() string {
	word := map[string]string{environment.OwnerRun: "run", environment.OwnerProbe: "test", environment.OwnerSetup: "set-up session",
		environment.OwnerOperator: "operator", environment.OwnerTask: "task"}[p.lease.OwnerKind]
	if word == "" {
		word = p.lease.OwnerKind
	}
	if p.state == LeaseRowRetained {
		return "nobody; kept after its " + word
	}
	return word
}

// runPath is where its run is; "" when it is of none.
func (p LeaseRowProps) runPath() string {
	if p.lease.RunID == nil {
		return ""
	}
	return RunPath(p.lease.CompanyID, *p.lease.RunID)
}

// acquisition is how the sandbox was got; "" for a host and while it is not known.
func (p LeaseRowProps) acquisition() string {
	if p.lease.Acquisition == nil || p.lease.Borrowed() {
		return ""
	}
	word := map[string]string{environment.AcquisitionCreated: "made anew", environment.AcquisitionResumed: "picked up again",
		environment.AcquisitionReplacement: "made in the place of one that is gone"}[*p.lease.Acquisition]
	if word == "" {
		word = *p.lease.Acquisition
	}
	if reason := text(p.lease.AcquisitionReason); reason != "" {
		word += " (" + strings.ReplaceAll(reason, "_", " ") + ")"
	}
	return word
}

// ends says when it ends by itself; "" where that says nothing.
func (p LeaseRowProps) ends() string {
	if p.lease.ExpiresAt == nil {
		return ""
	}
	switch p.state {
	case LeaseRowRetained:
		return "kept for " + ui.Left(*p.lease.ExpiresAt, p.now)
	case LeaseRowActive, LeaseRowAcquiring:
		return "ends " + ui.Millis(int64(p.lease.TTLSec)*1000) + " after its last beat"
	}
	return ""
}

// cleanup is how far the clean-up is; "" where there is none.
func (p LeaseRowProps) cleanup() string {
	l := p.lease
	if l.CleanupAttempts == 0 && p.state != LeaseRowPending && p.state != LeaseRowDeadLetter || l.Status.Ended() {
		return ""
	}
	parts := []string{ui.Count(l.CleanupAttempts, "try", "tries")}
	if l.CleanupError != nil {
		parts = append(parts, "last: "+strings.ReplaceAll(*l.CleanupError, "_", " "))
	}
	switch {
	case l.CleanupNextAt == nil:
	case l.CleanupNextAt.After(p.now):
		parts = append(parts, "next in "+ui.Left(*l.CleanupNextAt, p.now))
	default:
		parts = append(parts, "next is due")
	}
	return strings.Join(parts, " · ")
}

// inUse says why it may not be ended now; "" when it may.
func (p LeaseRowProps) inUse() string {
	if p.lease.Status != environment.LeaseActive || p.lease.OwnerKind == environment.OwnerOperator {
		return ""
	}
	if p.now.Sub(p.lease.HeartbeatAt) > environment.LeaseTTL {
		return "" // nobody beats for it any more
	}
	if p.lease.RunID != nil {
		return "Its run uses it: cancel that first."
	}
	return "A " + p.holder() + " uses it: it ends with that."
}

// goes tells that the row may change by itself.
func (p LeaseRowProps) goes() bool { return !p.lease.Status.Ended() }

// Mark stands for what the row shows: a look at it brings nothing while that is the
// same.
func (p LeaseRowProps) Mark() string {
	h := fnv.New32a()
	l := p.lease
	_, _ = fmt.Fprint(h, p.state, p.inUse(), text(l.ProviderID), text(l.Acquisition), text(l.FailureReason), l.CleanupAttempts, text(l.CleanupError), l.CleanupNextAt, l.RunID)
	return l.ID.String() + "~" + strconv.FormatUint(uint64(h.Sum32()), 36)
}

// The addresses of what is done with a lease.
func (p LeaseRowProps) act(name string) string { return LeasePath(p.lease.ID) + "/" + name }

func (p LeaseRowProps) canRelease() bool {
	return p.mayManage && p.lease.Status == environment.LeaseActive
}

func (p LeaseRowProps) canDestroy() bool {
	return p.mayManage && !p.lease.Borrowed() && (p.state == LeaseRowRetained || p.state == LeaseRowActive && p.inUse() == "")
}

func (p LeaseRowProps) canRetry() bool {
	return p.mayManage && p.lease.Status == environment.LeasePendingCleanup
}

func (p LeaseRowProps) buttonID(of string) string { return of + "-" + p.lease.ID.String() }
