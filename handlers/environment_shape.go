package handlers

import (
	"encoding/json"

	"berth/environment"
	"berth/handlers/api"
)

// environmentShape is an environment as the API shows it.
func environmentShape(v environment.EnvironmentView) api.Environment {
	return api.Environment{
		ID: v.ID, Name: v.Name, Description: v.Description, Driver: v.Driver, Status: string(v.Status),
		Config: configShape(v.Driver, v.Config), EnvVars: envVarShapes(v.EnvVars), Metadata: rawOrNull(v.Metadata),
		CreatedAt: api.Time(v.CreatedAt), UpdatedAt: api.Time(v.UpdatedAt),
		Revision: v.Revision, Health: string(v.Health()), IsDefault: v.IsDefault, LastProbe: probeBrief(v.Last),
		Managed: v.Managed, Budget: budgetShape(v.Budget),
	}
}

func budgetShape(b *environment.Budget) *api.Budget {
	if b == nil {
		return nil
	}
	shape := api.Budget(*b)
	return &shape
}

// configShape is a stored config. That of ssh always has a privateKey, and it
// is always null; a reduced one is empty.
func configShape(driver string, config json.RawMessage) json.RawMessage {
	if len(config) == 0 {
		return json.RawMessage("{}")
	}
	if driver != environment.DriverSSH {
		return config
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(config, &keys); err != nil || keys == nil {
		return json.RawMessage("{}") // what cannot be read is not shown: it may hold anything
	}
	if len(keys) == 0 || string(keys["privateKey"]) == "null" {
		return config
	}
	keys["privateKey"] = json.RawMessage("null")
	out, err := json.Marshal(keys)
	if err != nil {
		return json.RawMessage("{}")
	}
	return out
}

func envVarShapes(vars map[string]environment.EnvVar) map[string]api.EnvVar {
	out := make(map[string]api.EnvVar, len(vars))
	for name, v := range vars {
		shape := api.EnvVar{Type: v.Type}
		if v.Ref != nil {
			shape.SecretID, shape.Version = &v.Ref.SecretID, v.Ref.Version
		} else {
			shape.Value = &v.Value
		}
		out[name] = shape
	}
	return out
}

func probeBrief(p *environment.Probe) *api.ProbeBrief {
	if p == nil {
		return nil
	}
	return &api.ProbeBrief{ID: p.ID, OK: p.OK, Code: p.Code, Summary: p.Summary, DurationMs: p.DurationMs(), FinishedAt: api.TimePtr(p.FinishedAt)}
}

func blastRadiusShape(i environment.Impact) api.BlastRadius {
	blocked := i.Blocked
	if blocked == nil {
		blocked = []string{}
	}
	return api.BlastRadius{
		EnvironmentID: i.EnvironmentID, CanDelete: i.CanDelete(), DeleteBlockedReasons: blocked,
		StaticReferences: api.StaticReferences{
			IsManagedLocal: i.IsManagedLocal, IsInstanceDefault: i.IsDefault, SecretBindingCount: i.SecretCount, RunCount: i.Uses.Runs,
			AgentDefaultCount: i.Uses.AgentDefaults,
		},
		ActiveRuntimeUse: api.ActiveRuntimeUse{
			ActiveLeaseCount: i.Uses.ActiveLeases, PendingCleanupLeaseCount: i.Uses.PendingCleanup, ActiveRunCount: i.Uses.ActiveRuns,
			ReusableSandboxLeaseCount: i.Uses.Retained,
			HasActiveRuntimeUse:       i.Uses.ActiveLeases+i.Uses.PendingCleanup+i.Uses.Retained+i.Uses.ActiveRuns > 0,
		},
	}
}

func rawOrNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}
