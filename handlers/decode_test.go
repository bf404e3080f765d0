package handlers

import (
	"encoding/json"
	"errors"
	"testing"

	"berth/environment"

	"github.com/google/uuid"
)

func TestDecodeStrict(t *testing.T) {
	type inner struct {
		Port int `json:"port"`
	}
	type body struct {
		Name    string                     `json:"name"`
		Note    *string                    `json:"note"`
		Stdin   *string                    `json:"stdin" nul:"ok"`
		On      bool                       `json:"on"`
		ID      *uuid.UUID                 `json:"id"`
		Inner   inner                      `json:"inner"`
		List    []string                   `json:"list"`
		Map     map[string]string          `json:"map"`
		Raw     map[string]json.RawMessage `json:"raw"`
		Maybe   optional[int]              `json:"maybe"`
		Perhaps nullable[string]           `json:"perhaps"`
	}
	tests := []struct{ name, body, code, field string }{
		{"everything", `{"name":"a","note":null,"on":true,"id":"018f4e9c-0000-7000-8000-000000000000","inner":{"port":22},"list":["x"],"map":{"a":"b"},"raw":{"a":null},"maybe":3,"perhaps":null}`, "", ""},
		{"nothing", `{}`, "", ""},
		{"NUL where it may be", `{"stdin":"a\u0000b"}`, "", ""},
		{"unknown key", `{"nmae":"a"}`, "unknown_key", "nmae"},
		{"unknown key within", `{"inner":{"prot":1}}`, "unknown_key", "inner.prot"},
		{"key in other case", `{"Name":"a"}`, "unknown_key", "Name"},
		{"repeated key", `{"name":"a","name":"b"}`, "repeated_key", "name"},
		{"trailing data", `{"name":"a"} {}`, "invalid_json", ""},
		{"trailing comma", `{"name":"a",}`, "invalid_json", ""},
		{"not JSON", `name=a`, "invalid_json", ""},
		{"cut", `{"name":"a`, "invalid_json", ""},
		{"not UTF-8", "{\"name\":\"\xff\"}", "invalid_json", ""},
		{"list at the top", `[]`, "invalid_body", ""},
		{"null at the top", `null`, "invalid_body", ""},
		{"null name", `{"name":null}`, "invalid_body", "name"},
		{"null optional", `{"maybe":null}`, "invalid_body", "maybe"},
		{"null in a list", `{"list":[null]}`, "invalid_body", "list[0]"},
		{"null in a map", `{"map":{"a":null}}`, "invalid_body", "map.a"},
		{"null list", `{"list":null}`, "invalid_body", "list"},
		{"text for a number", `{"inner":{"port":"22"}}`, "invalid_body", "inner.port"},
		{"fraction", `{"maybe":1.5}`, "invalid_body", "maybe"},
		{"overflow", `{"maybe":99999999999999999999}`, "invalid_body", "maybe"},
		{"number for text", `{"name":1}`, "invalid_body", "name"},
		{"text for a switch", `{"on":"true"}`, "invalid_body", "on"},
		{"no UUID", `{"id":"x"}`, "invalid_body", "id"},
		{"text for an object", `{"inner":"x"}`, "invalid_body", "inner"},
		{"text for a map", `{"map":"x"}`, "invalid_body", "map"},
		{"text for a list", `{"list":"x"}`, "invalid_body", "list"},
		{"NUL", `{"name":"a\u0000b"}`, "invalid_body", "name"},
		{"NUL in a key", `{"raw":{"a\u0000":1}}`, "invalid_body", "raw"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var into body
			err := decodeStrict([]byte(tt.body), &into)
			if tt.code == "" {
				if err != nil {
					t.Fatalf("%s: %v", tt.body, err)
				}
				return
			}
			e, ok := errors.AsType[*environment.Error](err)
			if !ok || e.Code != tt.code || e.Kind != environment.KindUnreadable {
				t.Fatalf("%s: got %v (%s), want %s", tt.body, err, environment.CodeOf(err), tt.code)
			}
			if field := fieldOf(e); field != tt.field {
				t.Errorf("%s: field %q, want %q", tt.body, field, tt.field)
			}
		})
	}
}

func fieldOf(e *environment.Error) string {
	if len(e.Fields) == 0 {
		return ""
	}
	return e.Fields[0].Field
}

func TestDecodeTellsNullFromAbsent(t *testing.T) {
	var body environmentPatchBody
	if err := decodeStrict([]byte(`{"description":null,"config":{"proxyJump":null},"metadata":null,"envVars":{"A":null}}`), &body); err != nil {
		t.Fatal(err)
	}
	patch, err := body.patch()
	if err != nil {
		t.Fatal(err)
	}
	if !patch.SetDescription || patch.Description != nil {
		t.Errorf("description: set %t, %v; want removed", patch.SetDescription, patch.Description)
	}
	if string(patch.Config["proxyJump"]) != "null" || string(patch.Metadata) != "null" || !patch.EnvVars["A"].Remove {
		t.Errorf("got %+v, want nulls kept", patch)
	}
	var empty environmentPatchBody
	if err := decodeStrict([]byte(`{}`), &empty); err != nil {
		t.Fatal(err)
	}
	if patch, err := empty.patch(); err != nil || patch.SetDescription || patch.Config != nil || patch.EnvVars != nil || patch.Metadata != nil || patch.Name != nil {
		t.Errorf("an empty body changes something: %+v, %v", patch, err)
	}
}

func TestEnvVarForms(t *testing.T) {
	const id = "018f4e9c-0000-7000-8000-000000000000"
	tests := []struct {
		name, in, code string
		want           environment.EnvVarDraft
	}{
		{"text", `"a"`, "", environment.EnvVarDraft{Type: "plain", Value: environment.NewSecret("a")}},
		{"empty text", `""`, "", environment.EnvVarDraft{Type: "plain"}},
		{"plain", `{"type":"plain","value":"a"}`, "", environment.EnvVarDraft{Type: "plain", Value: environment.NewSecret("a")}},
		{"secret", `{"type":"secret","value":"a"}`, "", environment.EnvVarDraft{Type: "secret", Value: environment.NewSecret("a")}},
		{"removed", `null`, "", environment.EnvVarDraft{Remove: true}},
		{"no type", `{"value":"a"}`, "invalid_body", environment.EnvVarDraft{}},
		{"unknown type", `{"type":"file","value":"a"}`, "invalid_body", environment.EnvVarDraft{}},
		{"no value", `{"type":"plain"}`, "invalid_body", environment.EnvVarDraft{}},
		{"null value", `{"type":"plain","value":null}`, "invalid_body", environment.EnvVarDraft{}},
		{"a number", `3`, "invalid_body", environment.EnvVarDraft{}},
		{"unknown key", `{"type":"plain","value":"a","x":1}`, "unknown_key", environment.EnvVarDraft{}},
		{"both", `{"type":"secret_ref","secretId":"` + id + `","value":"a"}`, "invalid_body", environment.EnvVarDraft{}},
		{"no id", `{"type":"secret_ref"}`, "invalid_body", environment.EnvVarDraft{}},
		{"version 0", `{"type":"secret_ref","secretId":"` + id + `","version":0}`, "invalid_body", environment.EnvVarDraft{}},
		{"version of null", `{"type":"secret_ref","secretId":"` + id + `","version":null}`, "invalid_body", environment.EnvVarDraft{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := envVarDraft("envVars.A", json.RawMessage(tt.in))
			if environment.CodeOf(err) != tt.code {
				t.Fatalf("%s: error %v, want code %q", tt.in, err, tt.code)
			}
			if same := got.Type == tt.want.Type && got.Value.Equal(tt.want.Value) && got.Remove == tt.want.Remove; err == nil && !same {
				t.Errorf("%s: got %+v, want %+v", tt.in, got, tt.want)
			}
		})
	}
	for in, version := range map[string]string{`"latest"`: "latest", `3`: "3", `"4"`: "4"} {
		got, err := envVarDraft("envVars.A", json.RawMessage(`{"type":"secret_ref","secretId":"`+id+`","version":`+in+`}`))
		if err != nil || got.Ref == nil || got.Ref.Version != version {
			t.Errorf("version %s: got %+v, %v; want %s", in, got.Ref, err, version)
		}
	}
}
