package probing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"berth/environment"
)

// takeDown gives the lease back and tells what the provider confirmed. What it
// did not is a warning: the test of the target stays as it is, and the clean-up
// goes on without this probe.
func (t *trial) takeDown(ctx context.Context, out outcome) {
	if !t.held {
		t.nothingHeld()
		return
	}
	t.begin("cleanup")
	status, reason := t.leaseEnd(out)
	lease, err := t.leases.Finish(ctx, t.lease.ID, t.ref.Spec, status, reason)
	if err != nil {
		t.log.Warn("give back the lease of a probe", "probe", t.job.probe.ID, "lease", t.lease.ID, "err", err)
		lease = t.lease
	}
	t.lease = lease
	stage := environment.Stage{Name: "cleanup", Measured: map[string]any{"leaseId": lease.ID.String(), "leaseStatus": string(lease.Status)}}
	if receipt, ok := receiptOf(lease); ok {
		stage.Measured["outcome"], stage.Measured["providerId"] = receipt.Outcome, receipt.ProviderID
		if t.confirms(lease, receipt) {
			t.receipt = &receipt
			stage.Status, stage.Message = environment.StageOK, "The provider confirmed that the sandbox is "+receipt.Outcome+"."
			t.end(stage)
			return
		}
	}
	t.unconfirmed(stage)
}

func (t *trial) unconfirmed(stage environment.Stage) {
	code := environment.CodeCleanupUnconfirmed
	stage.Status, stage.Severity, stage.Code = environment.StageWarning, "warning", code
	stage.Message = "The provider did not confirm that the sandbox of this test is gone."
	stage.Remediation = environment.Remedy(code)
	t.end(stage)
}

// nothingHeld is the clean-up of a probe that got no sandbox: there is none to
// remove, or nobody knows yet.
func (t *trial) nothingHeld() {
	if id := t.job.probe.LeaseID; id != nil && !t.lease.Status.Ended() {
		t.unconfirmed(environment.Stage{Name: "cleanup", Measured: map[string]any{"leaseId": id.String(), "leaseStatus": string(t.lease.Status)}})
		return
	}
	if receipt, ok := receiptOf(t.lease); ok && receipt.Outcome == "destroyed" {
		t.end(environment.Stage{Name: "cleanup", Status: environment.StageOK, Message: "What had been made is destroyed, by the provider's word."})
		return
	}
	t.rec.report(environment.Stage{Name: "cleanup", Status: environment.StageSkipped, Message: "No sandbox was made."})
}

// leaseEnd is how the lease of a probe ends, and why.
func (t *trial) leaseEnd(out outcome) (environment.LeaseStatus, string) {
	switch {
	case errors.Is(out.cause, errCancelled):
		return environment.LeaseExpired, "cancelled"
	case errors.Is(out.cause, errTimedOut):
		return environment.LeaseExpired, environment.CodeTimedOut
	case out.cause != nil:
		return environment.LeaseExpired, environment.CodeInterrupted
	case !t.result.OK:
		return environment.LeaseFailed, cmp.Or(t.result.Code, "internal")
	}
	return environment.LeaseReleased, ""
}

// confirms reports whether a receipt proves that nothing of the sandbox runs any
// more: destroyed, or stopped where it was to be archived, and it is the same one.
func (t *trial) confirms(lease environment.Lease, r environment.Receipt) bool {
	if r.ProviderID == "" || r.ProviderID != t.ref.ProviderID {
		return false
	}
	switch r.Outcome {
	case "destroyed":
		return lease.Status.Ended()
	case "stopped":
		return environment.LeaseRulesOf(t.env.Config).Archive && (lease.Status.Ended() || lease.Status == environment.LeaseRetained)
	}
	return false
}

func receiptOf(l environment.Lease) (environment.Receipt, bool) {
	var r environment.Receipt
	if len(l.Receipt) == 0 || string(l.Receipt) == "null" || json.Unmarshal(l.Receipt, &r) != nil {
		return r, false
	}
	return r, true
}
