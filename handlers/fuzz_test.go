package handlers

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"berth/environment"

	"github.com/labstack/echo/v4"
)

// posted is the context of a POST with a body of a type.
func posted(kind, body string) echo.Context {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	return echo.New().NewContext(r, httptest.NewRecorder())
}

// refusedWell fails the test unless what refused a body is a refusal that people
// may see: a status of theirs, not of the server.
func refusedWell(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if status := refusalOf(err).status; status < 400 || status >= 500 {
		t.Fatalf("answers %d: %v", status, err)
	}
}

// FuzzBody: whatever is sent as JSON is read, or refused as the sender's fault;
// what is read is never a text that cannot be stored.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"name":"box","driver":"ssh","config":{"host":"h","port":22},"envVars":{"A":{"type":"plain","value":"b"}}}`,
		`{"name":"a","name":"b"}`, `{"Name":"a"}`, `{"name":null}`, `{"name":1}`, `[]`, `null`, `"x"`, `{"config":[]}`, `{"name":"\u0000"}`,
		`{"name":"\ud800"}`, `{} {}`, `{"metadata":{"a":[1,2,{"b":null}]}}`, `{"newSecrets":{"config.password":{"name":"n","value":"v"}}}`,
		strings.Repeat(`{"config":`, 200) + "1" + strings.Repeat("}", 200), "\xff", "{",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var body environmentBody
		if err := decodeOptionalBody(posted("application/json", text), &body); err != nil {
			refusedWell(t, err)
		} else if strings.ContainsRune(body.Name.Value, 0) {
			t.Fatalf("%q is read with a NUL in the name", text)
		}
		var patch environmentPatchBody
		refusedWell(t, decodeOptionalBody(posted("application/json", text), &patch))
		var in invitationBody
		refusedWell(t, decodeOptionalBody(posted("application/json", text), &in))
	})
}

// FuzzEnvironmentForm: whatever a page posts is read, or refused as the sender's
// fault, and never more rows than are looked at.
func FuzzEnvironmentForm(f *testing.F) {
	for _, seed := range []string{
		"name=box&driver=ssh&config.host=h&config.port=22", "env.0.name=A&env.0.value=b&env.1.name=A", "id=x", "revision=x", "name=%00", "name=%ff",
		"config.privateKey=-----BEGIN", "config.privateKey.source=secret&config.privateKey.secret=x&config.privateKey.version=1",
		"config.privateKey.held=x", "%zz", "a=b;c=d", strings.Repeat("env.0.name=A&", 300),
	} {
		f.Add(seed)
	}
	s := &server{newKeys: newNewKeys(nil)}
	f.Fuzz(func(t *testing.T, text string) {
		values, err := s.formValues(posted(echo.MIMEApplicationForm, text))
		refusedWell(t, err)
		if n := len(values.Vars); err == nil && n > maxFormRows {
			t.Fatalf("%d rows of variables are read", n)
		}
	})
}

// FuzzQuery: a window and an id of an address are read, or refused with 400.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"limit=500", "limit=0", "limit=1001", "limit=x", "cursor=%00", "q=%ff", "q=a&q=b", "companyId=x", "limit=9223372036854775808"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL.RawQuery = text
		c := echo.New().NewContext(r, httptest.NewRecorder())
		for _, read := range []func() error{
			func() error { _, err := windowOf(c); return err },
			func() error { _, err := queryID(c, "companyId", "company"); return err },
		} {
			if err := read(); err != nil && environment.KindOf(err) != environment.KindUnreadable {
				t.Fatalf("%q: %v, want 400", text, err)
			}
		}
	})
}
