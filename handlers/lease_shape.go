package handlers

import (
	"berth/environment"
	"berth/handlers/api"
)

// leaseShape is a lease as the API shows it. The driver's own reference is not
// in it.
func leaseShape(l environment.Lease) api.Lease {
	return api.Lease{
		ID: l.ID, CompanyID: l.CompanyID, EnvironmentID: l.EnvironmentID, ExecutionWorkspaceID: l.WorkspaceID, HeartbeatRunID: l.RunID,
		Status: string(l.Status), LeasePolicy: string(l.Policy), Provider: l.Provider, ProviderLeaseID: l.ProviderID,
		AcquiredAt: api.Time(l.AcquiredAt), LastUsedAt: api.Time(l.LastUsedAt), ExpiresAt: api.TimePtr(l.ExpiresAt),
		ReleasedAt: api.TimePtr(l.ReleasedAt), FailureReason: l.FailureReason, CleanupStatus: l.CleanupStatus,
		Metadata: rawOrNull(l.Metadata), CreatedAt: api.Time(l.CreatedAt), UpdatedAt: api.Time(l.UpdatedAt),
		RunID: l.RunID, OwnerKind: l.OwnerKind, Receipt: rawOrNull(l.Receipt),
		EnvironmentName: l.EnvironmentName, AgentID: l.AgentID, HeartbeatAt: api.Time(l.HeartbeatAt),
		Acquisition: l.Acquisition, AcquisitionReason: l.AcquisitionReason, ResumesLeaseID: l.Resumes,
		CleanupAttempts: l.CleanupAttempts, CleanupNextAt: api.TimePtr(l.CleanupNextAt), CleanupError: l.CleanupError,
		DeadLetterAt: api.TimePtr(l.DeadLetterAt),
	}
}
