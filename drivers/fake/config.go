package fake

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"berth/environment"
)

//go:embed schema.json
var schema string

// Schema is the JSON Schema of a config.
func (d *Driver) Schema() json.RawMessage { return json.RawMessage(schema) }

// config is what an environment stores.
type config struct {
	Provider          string            `json:"provider"`
	Image             string            `json:"image,omitempty"`
	Script            map[string]string `json:"script,omitempty"`
	ReuseLease        bool              `json:"reuseLease,omitempty"`
	LeasePolicy       string            `json:"leasePolicy,omitempty"`
	RetainSec         int64             `json:"retainSec,omitempty"`
	ArchiveOnRelease  bool              `json:"archiveOnRelease,omitempty"`
	StartupTimeoutSec int64             `json:"startupTimeoutSec,omitempty"`
}

func (c config) image() string { return cmp.Or(c.Image, "fake:1") }

func readConfig(raw json.RawMessage) (config, error) {
	var c config
	if len(raw) == 0 {
		return c, nil
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, environment.Invalid("validation_failed", "The stored settings of this environment cannot be read.").Because(err)
	}
	return c, nil
}

// Configure checks a config. It has no secrets.
func (d *Driver) Configure(in environment.ConfigInput) (environment.ConfigOutput, error) {
	var wrong []environment.FieldError
	refuse := func(field, message string) {
		wrong = append(wrong, environment.FieldError{Field: "config." + field, Message: message})
	}
	var c config
	known := map[string]any{"provider": &c.Provider, "image": &c.Image, "script": &c.Script, "reuseLease": &c.ReuseLease,
		"leasePolicy": &c.LeasePolicy, "retainSec": &c.RetainSec, "archiveOnRelease": &c.ArchiveOnRelease, "startupTimeoutSec": &c.StartupTimeoutSec}
	for _, key := range slices.Sorted(maps.Keys(in.Config)) {
		to, ok := known[key]
		if !ok {
			refuse(key, "There is no such setting.")
		} else if err := json.Unmarshal(in.Config[key], to); err != nil {
			refuse(key, "This has the wrong type.")
		}
	}
	if c.Provider != environment.ProviderFake {
		refuse("provider", "This is not the fake provider.")
	}
	if len(c.Image) > 512 {
		refuse("image", "An image has up to 512 characters.")
	}
	if c.LeasePolicy != "" && !slices.Contains(environment.LeasePolicies(), environment.LeasePolicy(c.LeasePolicy)) {
		refuse("leasePolicy", "There is no such policy.")
	}
	if c.RetainSec != 0 && (c.RetainSec < 60 || c.RetainSec > int64(environment.MaxRetained.Seconds())) {
		refuse("retainSec", "A sandbox is kept for 60 seconds to 30 days.")
	}
	if limit := int64(environment.MaxStartupBudget.Seconds()); c.StartupTimeoutSec < 0 || c.StartupTimeoutSec > limit {
		refuse("startupTimeoutSec", fmt.Sprintf("A sandbox has 1 to %d seconds to start.", limit))
	}
	for _, step := range slices.Sorted(maps.Keys(c.Script)) {
		if _, err := parseKnobs(step, c.Script[step]); err != nil {
			refuse("script", fmt.Sprintf("%s: %v.", step, err))
		}
	}
	if err := environment.InvalidFields(wrong); err != nil {
		return environment.ConfigOutput{}, err
	}
	stored, err := json.Marshal(c)
	if err != nil {
		return environment.ConfigOutput{}, fmt.Errorf("write the fake config: %w", err)
	}
	return environment.ConfigOutput{Config: stored}, nil
}

// StartupBudget is the configured one, else two minutes.
func (d *Driver) StartupBudget(raw json.RawMessage) time.Duration {
	c, err := readConfig(raw)
	if err != nil || c.StartupTimeoutSec <= 0 {
		return environment.DefaultStartupBudget
	}
	return time.Duration(c.StartupTimeoutSec) * time.Second
}
