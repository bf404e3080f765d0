package api

import "github.com/google/uuid"

// Secret is a company's secret without its values.
type Secret struct {
	ID            uuid.UUID `json:"id"`
	CompanyID     uuid.UUID `json:"companyId"`
	Name          string    `json:"name"`
	Description   *string   `json:"description"`
	Disabled      bool      `json:"disabled"`
	LatestVersion int       `json:"latestVersion"`
	CreatedBy     string    `json:"createdBy"`
	CreatedAt     Time      `json:"createdAt"`
	UpdatedAt     Time      `json:"updatedAt"`
	// Of one secret only.
	Versions []SecretVersion `json:"versions,omitempty"`
	Uses     []SecretUse     `json:"uses,omitempty"`
}

// SecretVersion is one value's place in history.
type SecretVersion struct {
	Version   int    `json:"version"`
	CreatedAt Time   `json:"createdAt"`
	CreatedBy string `json:"createdBy"`
}

// SecretUse is what refers to a secret.
type SecretUse struct {
	EnvironmentID   uuid.UUID `json:"environmentId"`
	EnvironmentName string    `json:"environmentName"`
	ConfigPath      string    `json:"configPath"`
	Version         string    `json:"version"`
}

// NewSecret is the body of POST /api/companies/:c/secrets.
type NewSecret struct {
	Name        string  `json:"name"`
	Description *string `json:"description,omitempty"`
	Value       string  `json:"value"`
}

// RotateSecret is the body of POST /api/secrets/:id/rotate.
type RotateSecret struct {
	Value string `json:"value"`
}

// SecretAccess is one opening of a secret, or a try.
type SecretAccess struct {
	At            Time       `json:"at"`
	Version       int        `json:"version"` // 0: not opened
	EnvironmentID *uuid.UUID `json:"environmentId"`
	CompanyID     *uuid.UUID `json:"companyId"`
	ConfigPath    string     `json:"configPath"`
	Purpose       string     `json:"purpose"`
	RunID         *uuid.UUID `json:"runId"`
	ProbeID       *uuid.UUID `json:"probeId"`
	ActorName     string     `json:"actorName"`
	Outcome       string     `json:"outcome"`
}

// KeyRotation answers POST /api/instance/rotate-key.
type KeyRotation struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Resealed int    `json:"resealed"`
}

// InlineSecret makes a company's secret in the save that first refers to it; in
// the bodies of environments, under newSecrets, by the path that will refer to
// it: "config.privateKey", "envVars.NAME".
type InlineSecret struct {
	CompanyID *uuid.UUID `json:"companyId,omitempty"` // absent: the company of the request
	Name      string     `json:"name"`
	Value     string     `json:"value"`
}

// SecretRef is a reference of an environment, without a value.
type SecretRef struct {
	ConfigPath    string     `json:"configPath"` // "config.privateKey", "envVars.NAME"
	SecretID      uuid.UUID  `json:"secretId"`
	Version       string     `json:"version"` // "latest" or a number
	Owned         bool       `json:"owned"`   // the environment's own, which serves every company
	CompanyID     *uuid.UUID `json:"companyId"`
	Name          string     `json:"name"`
	Disabled      bool       `json:"disabled"`
	LatestVersion int        `json:"latestVersion"`
	Missing       bool       `json:"missing"` // it, or that version, is not there
}
