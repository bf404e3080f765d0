package configschema_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"berth/environment"
	"berth/environment/configschema"
)

const sandbox = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "required": ["provider", "image", "token"],
  "$defs": {"size": {"type": "integer", "minimum": 64, "maximum": 1024, "x-unit": "MiB"}},
  "properties": {
    "provider": {"const": "docker"},
    "image": {"type": "string", "title": "Image", "pattern": "^[^ ]+$", "maxLength": 20, "x-order": 1, "x-role": "image"},
    "token": {"type": "string", "title": "Token", "format": "secret-ref", "minLength": 3, "x-order": 2, "x-role": "account"},
    "pull": {"enum": ["missing", "always", "never"], "x-labels": ["When missing", "Always"], "default": "missing", "x-order": 3},
    "memoryMiB": {"$ref": "#/$defs/size", "title": "Memory"},
    "cpus": {"type": "number", "exclusiveMinimum": 0, "x-unit": "cores", "x-role": "runtime", "x-group": "limits"},
    "keep": {"type": "boolean", "default": false},
    "env": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 5}, "propertyNames": {"pattern": "^[A-Z]+$"}},
    "tools": {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 2, "uniqueItems": true},
    "mode": {"oneOf": [{"const": "a", "title": "The first"}, {"const": "b"}]},
    "limit": {"title": "Limit", "oneOf": [
      {"title": "A number", "type": "integer", "minimum": 1},
      {"title": "A word", "enum": ["none", "auto"]}]},
    "either": {"type": ["string", "boolean", "null"]}
  }
}`

func parse(t *testing.T, text string) *configschema.Schema {
	t.Helper()
	s, err := configschema.Parse(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFieldsAreReadInOrder(t *testing.T) {
	s := parse(t, sandbox)
	var names []string
	for _, f := range s.Fields {
		names = append(names, f.Name)
	}
	want := []string{"image", "token", "pull", "cpus", "either", "env", "keep", "limit", "memoryMiB", "mode", "tools"}
	if !slices.Equal(names, want) {
		t.Fatalf("fields are %v, want %v", names, want)
	}
	image, _ := s.Field("image")
	if image.Type != "string" || !image.Required || image.Role != "image" || image.MaxLength != 20 || image.Title != "Image" {
		t.Errorf("image is %+v", image)
	}
	if f, _ := s.Field("token"); !f.Secret || s.Role("tokenSecretRef") != "account" {
		t.Errorf("token is %+v", f)
	}
	pull, _ := s.Field("pull")
	if !slices.Equal(pull.Options, []environment.ConfigOption{{Value: "missing", Label: "When missing"}, {Value: "always", Label: "Always"}, {Value: "never", Label: "never"}}) {
		t.Errorf("pull is %+v", pull)
	}
	memory, _ := s.Field("memoryMiB")
	if memory.Type != "integer" || *memory.Minimum != 64 || memory.Unit != "MiB" || memory.Role != "target" || memory.Title != "Memory" {
		t.Errorf("memoryMiB is %+v", memory)
	}
	for name, typ := range map[string]string{"env": "map", "tools": "list", "keep": "boolean", "cpus": "number", "mode": "string", "limit": "union", "either": "union"} {
		if f, _ := s.Field(name); f.Type != typ {
			t.Errorf("%s is of type %s, want %s", name, f.Type, typ)
		}
	}
	limit, _ := s.Field("limit")
	if len(limit.Variants) != 2 || limit.Variants[0].Title != "A number" || limit.Variants[0].Field.Type != "integer" || len(limit.Variants[1].Field.Options) != 2 {
		t.Errorf("limit is %+v", limit)
	}
	if f, _ := s.Field("either"); len(f.Variants) != 2 || f.Variants[1].Field.Type != "boolean" {
		t.Errorf("either is %+v", f)
	}
	if s.Role("what") != "target" || s.Role("imageSecretRef") != "target" {
		t.Error("what the schema does not know is the target")
	}
}

func TestValidate(t *testing.T) {
	const ref = `{"type":"secret_ref","secretId":"0197a5f0-0000-7000-8000-000000000001","version":"latest"}`
	for name, c := range map[string]struct{ with, want string }{
		"right":                    {`{"image":"a","token":"abc","pull":"never","memoryMiB":64,"cpus":0.5,"env":{"A":"b"},"tools":["git"],"limit":"none","either":true}`, ""},
		"secret by its reference":  {`{"image":"a","tokenSecretRef":` + ref + `}`, ""},
		"null is unset":            {`{"image":"a","token":"abc","cpus":null}`, ""},
		"nothing":                  {`{}`, "config.image: Image is needed.|config.token: Token is needed."},
		"blank where it is needed": {`{"image":" ","token":"abc"}`, "config.image: Image is needed."},
		"unknown key":              {`{"image":"a","token":"abc","imagee":"b"}`, "config.imagee: There is no setting of that name."},
		"reference of no secret":   {`{"image":"a","token":"abc","pullSecretRef":` + ref + `}`, "config.pullSecretRef: There is no setting of that name."},
		"too long":                 {`{"image":"` + strings.Repeat("a", 21) + `","token":"abc"}`, "config.image: This is too long: at most 20 characters."},
		"pattern":                  {`{"image":"a b","token":"abc"}`, "config.image: This has not the form that is asked for: ^[^ ]+$."},
		"enum":                     {`{"image":"a","token":"abc","pull":"sometimes"}`, "config.pull: Choose missing, always or never."},
		"below the range":          {`{"image":"a","token":"abc","memoryMiB":1}`, "config.memoryMiB: Enter a whole number from 64 to 1024 MiB."},
		"text for a number":        {`{"image":"a","token":"abc","memoryMiB":"64"}`, "config.memoryMiB: Enter a whole number from 64 to 1024 MiB."},
		"half of a whole number":   {`{"image":"a","token":"abc","memoryMiB":64.5}`, "config.memoryMiB: Enter a whole number from 64 to 1024 MiB."},
		"not above":                {`{"image":"a","token":"abc","cpus":0}`, "config.cpus: Enter a number above 0 cores."},
		"a number without end":     {`{"image":"a","token":"abc","cpus":1e999999999}`, "config.cpus: This value cannot be read."},
		"yes or no":                {`{"image":"a","token":"abc","keep":"yes"}`, "config.keep: Choose yes or no: true or false."},
		"map of numbers":           {`{"image":"a","token":"abc","env":{"A":1}}`, "config.env.A: Enter text here."},
		"long value in a map":      {`{"image":"a","token":"abc","env":{"A":"123456"}}`, "config.env.A: This is too long: at most 5 characters."},
		"wrong name in a map":      {`{"image":"a","token":"abc","env":{"a":"1"}}`, "config.env.a: This name is not allowed here."},
		"list for a map":           {`{"image":"a","token":"abc","env":[]}`, "config.env: Enter names and their values: an object of strings."},
		"number in a list":         {`{"image":"a","token":"abc","tools":["a",1]}`, "config.tools.1: Enter text here."},
		"long list":                {`{"image":"a","token":"abc","tools":["a","b","c"]}`, "config.tools: These are too many: at most 2 lines."},
		"the same twice":           {`{"image":"a","token":"abc","tools":["a","a"]}`, "config.tools: Lines 1 and 2 are the same."},
		"union of another type":    {`{"image":"a","token":"abc","limit":true}`, "config.limit: Enter a number or none or auto."},
		"union out of range":       {`{"image":"a","token":"abc","limit":0}`, "config.limit: Enter a number of at least 1."},
		"short secret":             {`{"image":"a","token":"ab"}`, "config.token: Enter at least 3 characters."},
		"secret that is no text":   {`{"image":"a","token":5}`, "config.token: Enter text."},
	} {
		t.Run(name, func(t *testing.T) {
			var config map[string]json.RawMessage
			if err := json.Unmarshal([]byte(c.with), &config); err != nil {
				t.Fatal(err)
			}
			config["provider"] = json.RawMessage(`"docker"`)
			var got []string
			for _, f := range parse(t, sandbox).Validate(config) {
				got = append(got, f.Field+": "+f.Message)
			}
			if text := strings.Join(got, "|"); text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
		})
	}
}

func TestDefaultsAreLaidUnderAConfig(t *testing.T) {
	s := parse(t, sandbox)
	config := map[string]json.RawMessage{"pull": json.RawMessage(`"never"`), "keep": json.RawMessage("null")}
	full := s.Defaults(config)
	if string(full["pull"]) != `"never"` || string(full["keep"]) != "false" || len(full) != 2 {
		t.Errorf("the full config is %s", full)
	}
	if string(config["keep"]) != "null" {
		t.Error("the config itself was changed")
	}
	if full := s.Defaults(nil); string(full["pull"]) != `"missing"` {
		t.Errorf("over nothing it is %s", full)
	}
}

func TestCleanMeansWhatPeopleMean(t *testing.T) {
	s := parse(t, sandbox)
	clean := s.Clean(map[string]json.RawMessage{
		"image": json.RawMessage(`" app:1 "`), "token": json.RawMessage(`" a "`), "pull": json.RawMessage(`" "`), "cpus": json.RawMessage(`1`)})
	if string(clean["image"]) != `"app:1"` || string(clean["token"]) != `" a "` || clean["pull"] != nil || string(clean["cpus"]) != "1" {
		t.Errorf("clean is %s", clean)
	}
	if clean := s.Clean(map[string]json.RawMessage{"image": json.RawMessage(`" "`)}); string(clean["image"]) != `""` {
		t.Errorf("what is needed became %s", clean)
	}
}

func TestSchemasThatCannotBeUsed(t *testing.T) {
	property := func(text string) string { return `{"type":"object","properties":{"a":` + text + `}}` }
	for name, text := range map[string]string{
		"nothing":             ``,
		"no JSON":             `{`,
		"two values":          `{} {}`,
		"no object":           `true`,
		"of an array":         `{"type":"array"}`,
		"unknown type":        property(`{"type":"text"}`),
		"no type":             property(`{"title":"A"}`),
		"an object within":    property(`{"type":"object","properties":{"b":{"type":"string"}}}`),
		"a map of numbers":    property(`{"type":"object","additionalProperties":{"type":"integer"}}`),
		"a list of lists":     property(`{"type":"array","items":{"type":"array"}}`),
		"a remote reference":  property(`{"$ref":"https://schemas.example/a.json"}`),
		"a file":              property(`{"$ref":"file:///etc/passwd"}`),
		"an endless chain":    `{"$defs":{"b":{"$ref":"#/$defs/b"}},"properties":{"a":{"$ref":"#/$defs/b"}}}`,
		"a bad pattern":       property(`{"type":"string","pattern":"("}`),
		"a number as secret":  property(`{"type":"integer","format":"secret-ref"}`),
		"an unknown role":     property(`{"type":"string","x-role":"king"}`),
		"an order of words":   property(`{"type":"string","x-order":"first"}`),
		"a reference's name":  `{"properties":{"aSecretRef":{"type":"string"}}}`,
		"a strange name":      `{"properties":{"a b":{"type":"string"}}}`,
		"an unbounded number": property(`{"type":"number","maximum":1e99999}`),
		"a union in a union":  property(`{"oneOf":[{"oneOf":[{"type":"string"}]}]}`),
		"too large":           `{"title":"` + strings.Repeat("a", 256<<10) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := configschema.Parse(json.RawMessage(text)); err == nil {
				t.Error("the schema was taken")
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sandbox, `{"image":"a","limit":5,"env":{"A":1}}`)
	f.Add(`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}}}`, `{"a":[1]}`)
	f.Add(`{"if":{"required":["a"]},"then":{"required":["b"]},"properties":{"a":{"type":"string"},"b":{"const":1}}}`, `{"a":""}`)
	f.Add(`{"dependentRequired":{"a":["b"]},"properties":{"a":{"type":"string","format":"secret-ref"},"b":{"type":"number"}}}`, `{"aSecretRef":{}}`)
	f.Add(`{"$ref":"#","properties":{"a":{"not":{}}}}`, `{"a":1}`)
	f.Fuzz(func(t *testing.T, schema, config string) {
		s, err := configschema.Parse(json.RawMessage(schema))
		if err != nil {
			return
		}
		var m map[string]json.RawMessage
		if json.Unmarshal([]byte(config), &m) != nil {
			return
		}
		s.Validate(s.Defaults(m))
		for _, problem := range s.Validate(m) {
			if problem.Message == "" || !strings.HasPrefix(problem.Field, "config") {
				t.Errorf("a problem says %+v", problem)
			}
		}
	})
}
