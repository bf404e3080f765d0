package example

import (
	"encoding/json"
	"time"

	"berth/environment"
)

// SandboxLease is a lease of py-sandbox in a state, held by a run.
func SandboxLease(status environment.LeaseStatus) environment.Lease {
	l := Lease(status)
	v := ReadySandbox()
	l.ID[15] += 0x40
	l.EnvironmentID, l.EnvironmentName = pointer(v.ID), v.Name
	l.Driver, l.Provider, l.Policy = environment.DriverSandbox, environment.ProviderDocker, environment.PolicyReuseEnvironment
	l.TTLSec, l.HeartbeatAt, l.RetainSec = int(environment.LeaseTTL.Seconds()), Before(6*time.Second), 86400
	l.ExpiresAt = pointer(l.HeartbeatAt.Add(environment.LeaseTTL))
	if status == environment.LeaseAcquiring || status == environment.LeaseFailed {
		l.ProviderID, l.Ref = nil, json.RawMessage("null")
	} else {
		l.ProviderID, l.Acquisition = pointer(Container().BootID), pointer(environment.AcquisitionCreated)
	}
	switch status {
	case environment.LeaseRetained:
		l.ExpiresAt, l.Acquisition = pointer(Now().Add(23*time.Hour)), pointer(environment.AcquisitionResumed)
	case environment.LeasePendingCleanup:
		l.CleanupAttempts, l.CleanupNextAt, l.CleanupError = 3, pointer(Now().Add(4*time.Minute)), pointer(environment.CodeEngineUnreachable)
	case environment.LeaseFailed:
		l.FailureReason = pointer(environment.CodeImageDenied)
	case environment.LeaseReleased, environment.LeaseExpired:
		l.Receipt = raw(environment.Receipt{Outcome: "destroyed", ProviderID: *l.ProviderID, At: *l.ReleasedAt})
		l.Acquisition, l.AcquisitionReason = pointer(environment.AcquisitionReplacement), pointer(environment.CodeSandboxGone)
	}
	return l
}

// DeadLetter is a clean-up that waits for an operator.
func DeadLetter() environment.Lease {
	l := SandboxLease(environment.LeasePendingCleanup)
	l.ID[15] = 0x60
	l.EnvironmentID, l.CleanupAttempts = nil, 21
	l.CleanupNextAt, l.DeadLetterAt = pointer(Now().Add(58*time.Minute)), pointer(Before(3*time.Hour))
	return l
}

// LeftLease is active, and nobody has beaten for it for long.
func LeftLease() environment.Lease {
	l := SandboxLease(environment.LeaseActive)
	l.ID[15] = 0x61
	l.OwnerKind, l.RunID, l.HeartbeatAt = environment.OwnerOperator, nil, Before(10*time.Minute)
	return l
}

// SandboxLeases are one in each state, those that wait for an operator first.
func SandboxLeases() []environment.Lease {
	all := []environment.Lease{DeadLetter(), LeftLease()}
	for _, s := range environment.LeaseStatuses() {
		all = append(all, SandboxLease(s))
	}
	return all
}

// ContainerRun is a native run in py-sandbox.
func ContainerRun() environment.Run {
	r := Run(environment.RunSucceeded)
	v := ReadySandbox()
	r.EnvironmentID, r.EnvironmentName, r.Driver, r.Provider, r.Target = pointer(v.ID), v.Name, environment.DriverSandbox, environment.ProviderDocker, PinnedImage
	r.Native, r.Host = true, Container()
	return r
}
