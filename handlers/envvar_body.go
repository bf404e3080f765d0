package handlers

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"berth/environment"

	"github.com/google/uuid"
)

// envVarBody is a variable in a request: text, {type: "plain", value},
// {type: "secret", value}, {type: "secret_ref", secretId, version}, or null to
// remove it.
type envVarBody struct {
	Type     string           `json:"type"`
	Value    optional[string] `json:"value" nul:"ok"`
	SecretID *uuid.UUID       `json:"secretId"`
	Version  json.RawMessage  `json:"version"`
}

// envVarDrafts reads a map of variables; nil gives nil.
func envVarDrafts(raw map[string]json.RawMessage) (map[string]environment.EnvVarDraft, error) {
	if raw == nil {
		return nil, nil
	}
	drafts := make(map[string]environment.EnvVarDraft, len(raw))
	for name, value := range raw {
		draft, err := envVarDraft("envVars."+name, value)
		if err != nil {
			return nil, err
		}
		drafts[name] = draft
	}
	return drafts, nil
}

func envVarDraft(path string, raw json.RawMessage) (environment.EnvVarDraft, error) {
	var text string
	switch {
	case string(raw) == "null":
		return environment.EnvVarDraft{Remove: true}, nil
	case json.Unmarshal(raw, &text) == nil:
		return environment.EnvVarDraft{Type: "plain", Value: environment.NewSecret(text)}, nil
	}
	var body envVarBody
	if err := decodeValue(raw, reflect.ValueOf(&body).Elem(), path, false); err != nil {
		return environment.EnvVarDraft{}, err
	}
	switch body.Type {
	case "plain", "secret":
		if !body.Value.Set || body.SecretID != nil || body.Version != nil {
			return environment.EnvVarDraft{}, unreadableField("invalid_body", path, "%s of type %s has a value and nothing else.", path, body.Type)
		}
		return environment.EnvVarDraft{Type: body.Type, Value: environment.NewSecret(body.Value.Value)}, nil
	case "secret_ref":
		return secretRefDraft(path, body)
	}
	return environment.EnvVarDraft{}, unreadableField("invalid_body", path, "The type of %s is plain, secret or secret_ref.", path)
}

func secretRefDraft(path string, body envVarBody) (environment.EnvVarDraft, error) {
	if body.SecretID == nil || body.Value.Set {
		return environment.EnvVarDraft{}, unreadableField("invalid_body", path, "%s of type secret_ref has a secretId, perhaps a version, and nothing else.", path)
	}
	ref := environment.RefTo(*body.SecretID)
	version, err := versionOf(body.Version)
	if err != nil {
		return environment.EnvVarDraft{}, unreadableField("invalid_body", path, `The version of %s is "latest" or a positive number.`, path)
	}
	ref.Version = version
	return environment.EnvVarDraft{Type: "secret_ref", Ref: &ref}, nil
}

// versionOf reads "latest", 3 or "3"; none is the latest.
func versionOf(raw json.RawMessage) (string, error) {
	var text string
	var n int
	switch {
	case raw == nil || string(raw) == `"latest"`:
		return "latest", nil
	case json.Unmarshal(raw, &n) == nil && n > 0:
		return strconv.Itoa(n), nil
	case json.Unmarshal(raw, &text) == nil:
		if n, err := strconv.Atoi(text); err == nil && n > 0 {
			return strconv.Itoa(n), nil
		}
	}
	return "", fmt.Errorf("%d bytes are no version", len(raw))
}
