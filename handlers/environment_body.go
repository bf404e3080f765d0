package handlers

import (
	"encoding/json"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
)

// environmentBody is an environment as the API takes it, to create one or to
// test one that is not saved.
type environmentBody struct {
	Name        optional[string]                     `json:"name"`
	Description *string                              `json:"description"`
	Driver      optional[string]                     `json:"driver"`
	Status      optional[string]                     `json:"status"`
	Config      optional[map[string]json.RawMessage] `json:"config"`
	EnvVars     optional[map[string]json.RawMessage] `json:"envVars"`
	Metadata    json.RawMessage                      `json:"metadata"`
	NewSecrets  map[string]api.InlineSecret          `json:"newSecrets"`
	Budget      nullable[budgetBody]                 `json:"budget"`
}

// draftBody is environmentBody beside the saved row that it would change.
type draftBody struct {
	EnvironmentID *uuid.UUID `json:"environmentId"`
	environmentBody
}

// draft is the body in the domain's words.
func (b environmentBody) draft() (environment.Draft, error) {
	d := environment.Draft{
		Name: b.Name.Value, Description: b.Description, Driver: b.Driver.Value,
		Status: environment.Status(b.Status.Value), Config: b.Config.Value, Metadata: metadataOf(b.Metadata),
		Budget: b.Budget.Value.budget(), ClearBudget: b.Budget.Set && b.Budget.Value == nil,
	}
	if d.Config == nil {
		d.Config = map[string]json.RawMessage{}
	}
	if err := checkRaw(d.Config, d.Metadata); err != nil {
		return d, err
	}
	var err error
	d.EnvVars, err = envVarDrafts(b.EnvVars.Value)
	return d, err
}

// environmentPatchBody changes what it names.
type environmentPatchBody struct {
	Name        optional[string]                     `json:"name"`
	Description nullable[string]                     `json:"description"`
	Driver      optional[string]                     `json:"driver"`
	Status      optional[string]                     `json:"status"`
	Config      optional[map[string]json.RawMessage] `json:"config"`
	EnvVars     optional[map[string]json.RawMessage] `json:"envVars"`
	Metadata    json.RawMessage                      `json:"metadata"`
	NewSecrets  map[string]api.InlineSecret          `json:"newSecrets"`
	Budget      nullable[budgetBody]                 `json:"budget"`
}

// patch is the body in the domain's words.
func (b environmentPatchBody) patch() (environment.Patch, error) {
	p := environment.Patch{
		Name: b.Name.pointer(), Description: b.Description.Value, SetDescription: b.Description.Set,
		Driver: b.Driver.pointer(), Config: b.Config.Value, Metadata: b.Metadata,
		Budget: b.Budget.Value.budget(), ClearBudget: b.Budget.Set && b.Budget.Value == nil,
	}
	if b.Status.Set {
		status := environment.Status(b.Status.Value)
		p.Status = &status
	}
	if err := checkRaw(p.Config, p.Metadata); err != nil {
		return p, err
	}
	if !b.EnvVars.Set {
		return p, nil
	}
	var err error
	p.EnvVars, err = envVarDrafts(b.EnvVars.Value)
	return p, err
}

// budgetBody is a whole budget: what is left out is no limit.
type budgetBody struct {
	AccountLabel       optional[string] `json:"accountLabel"`
	MaxLeases          optional[int]    `json:"maxLeases"`
	LeaseMinutesPerDay optional[int]    `json:"leaseMinutesPerDay"`
	Note               optional[string] `json:"note"`
}

// budget is nil for none.
func (b *budgetBody) budget() *environment.Budget {
	if b == nil {
		return nil
	}
	return &environment.Budget{AccountLabel: b.AccountLabel.Value, MaxLeases: b.MaxLeases.Value,
		LeaseMinutesPerDay: b.LeaseMinutesPerDay.Value, Note: b.Note.Value}
}

func metadataOf(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// checkRaw refuses what the database cannot store.
func checkRaw(config map[string]json.RawMessage, metadata json.RawMessage) error {
	for key, raw := range config {
		if err := noNUL("config."+key, raw); err != nil {
			return err
		}
	}
	return noNUL("metadata", metadata)
}
