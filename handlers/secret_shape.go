package handlers

import (
	"berth/environment"
	"berth/environment/secrets"
	"berth/handlers/api"
)

// secretShape is a company's secret; its values are nowhere to be had.
func secretShape(s environment.StoredSecret) api.Secret {
	shape := api.Secret{
		ID: s.ID, Name: s.Name, Description: s.Description, Disabled: s.Disabled, LatestVersion: s.LatestVersion,
		CreatedBy: s.CreatedBy, CreatedAt: api.Time(s.CreatedAt), UpdatedAt: api.Time(s.UpdatedAt),
	}
	if s.CompanyID != nil {
		shape.CompanyID = *s.CompanyID
	}
	return shape
}

// wholeSecretShape is a secret with its history and what refers to it.
func wholeSecretShape(s environment.StoredSecret, uses secrets.Uses) api.Secret {
	shape := secretShape(s)
	shape.Versions = each(uses.Versions, func(v environment.SecretVersion) api.SecretVersion {
		return api.SecretVersion{Version: v.Version, CreatedAt: api.Time(v.CreatedAt), CreatedBy: v.CreatedBy}
	})
	shape.Uses = each(uses.Bindings, func(b environment.SecretBinding) api.SecretUse {
		return api.SecretUse{EnvironmentID: b.EnvironmentID, EnvironmentName: b.EnvironmentName, ConfigPath: b.ConfigPath, Version: b.Version}
	})
	return shape
}

func secretAccessShape(a environment.SecretAccess) api.SecretAccess {
	return api.SecretAccess{
		At: api.Time(a.At), Version: a.Version, EnvironmentID: a.EnvironmentID, CompanyID: a.CompanyID, ConfigPath: a.ConfigPath,
		Purpose: string(a.Purpose), RunID: a.RunID, ProbeID: a.ProbeID, ActorName: a.ActorName, Outcome: a.Outcome,
	}
}
