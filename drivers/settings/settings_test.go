package settings_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"berth/drivers/settings"
)

func of(t *testing.T, text string) *settings.Reader {
	t.Helper()
	var config map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		t.Fatal(err)
	}
	return settings.Of(config)
}

// What is read is what was sent, or the default; what is neither is noted once, at
// its key.
func TestReader(t *testing.T) {
	for name, tt := range map[string]struct {
		config string
		read   func(*settings.Reader) any
		want   any
		wrong  string // the one message; "" for none
	}{
		"text":                {`{"a":" x "}`, func(r *settings.Reader) any { return r.Text("a", 9) }, " x ", ""},
		"no text":             {`{"a":null}`, func(r *settings.Reader) any { return r.Text("a", 9) }, "", ""},
		"a number for a text": {`{"a":1}`, func(r *settings.Reader) any { return r.Text("a", 9) }, "", "This must be text."},
		"a long text":         {`{"a":"0123456789"}`, func(r *settings.Reader) any { return r.Text("a", 9) }, "", "This has at most 9 characters."},
		"a text with a NUL":   {`{"a":"\u0000"}`, func(r *settings.Reader) any { return r.Text("a", 0) }, "", "This holds characters that cannot be shown."},
		"number":              {`{"a":7}`, func(r *settings.Reader) any { return r.Number("a", 1, 1, 9) }, 7, ""},
		"number in text":      {`{"a":" 7 "}`, func(r *settings.Reader) any { return r.Number("a", 1, 1, 9) }, 7, ""},
		"number's default":    {`{"a":""}`, func(r *settings.Reader) any { return r.Number("a", 3, 1, 9) }, 3, ""},
		"number out of range": {`{"a":10}`, func(r *settings.Reader) any { return r.Number("a", 3, 1, 9) }, 10, "This is a whole number from 1 to 9."},
		"yes of a form":       {`{"a":"on"}`, func(r *settings.Reader) any { return r.Boolean("a", false) }, true, ""},
		"yes by default":      {`{"a":""}`, func(r *settings.Reader) any { return r.Boolean("a", true) }, true, ""},
		"maybe":               {`{"a":"maybe"}`, func(r *settings.Reader) any { return r.Boolean("a", true) }, true, "This is true or false."},
		"list":                {`{"a":["x","y"]}`, func(r *settings.Reader) any { return len(r.List("a", 1)) }, 2, "There can be at most 1."},
		"no list":             {`{"a":"x"}`, func(r *settings.Reader) any { return len(r.List("a", 0)) }, 0, "This is a list of texts."},
		"reference":           {`{"a":{"type":"secret_ref","secretId":"0197a1b2-0000-7000-8000-000000000000"}}`, func(r *settings.Reader) any { return r.Reference("a") != nil }, true, ""},
		"no reference":        {`{"a":{"type":"other"}}`, func(r *settings.Reader) any { return r.Reference("a") != nil }, false, `A reference to a secret is {"type": "secret_ref", "secretId", "version"}.`},
		"unknown":             {`{"a":1,"b":2}`, func(r *settings.Reader) any { r.Absent("a"); r.RefuseUnknown("A box", "c"); return nil }, nil, `A box has no setting "b".`},
		"known otherwise":     {`{"c":1}`, func(r *settings.Reader) any { r.RefuseUnknown("A box", "c"); return nil }, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := of(t, tt.config)
			got, wrong := tt.read(r), ""
			if len(r.Errors) > 0 {
				wrong = r.Errors[0].Message
			}
			if got != tt.want || wrong != tt.wrong || len(r.Errors) > 1 {
				t.Errorf("%s: got %v, %+v; want %v, %q", tt.config, got, r.Errors, tt.want, tt.wrong)
			}
		})
	}
	r := of(t, `{"env":{"A":"good","B":"bad"}}`)
	texts := r.Texts("env", 9, func(_, value string) string {
		if value == "bad" {
			return "No."
		}
		return ""
	})
	if len(texts) != 2 || fmt.Sprint(r.Errors) != "[{config.env.B No.}]" {
		t.Errorf("got %v, %v", texts, r.Errors)
	}
}
