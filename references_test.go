package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"berth/environment"
)

// sandboxes is the address of a server's sandbox environments.
func sandboxes(t *testing.T, url string) string {
	t.Helper()
	if status, body := send(t, "PATCH", url+"/api/instance/settings/experimental", `{"enableEnvironments":true}`); status != 200 {
		t.Fatalf("turn environments on: %d %s", status, body)
	}
	var company struct{ ID string }
	post(t, url+"/api/companies", `{"name":"Acme"}`, &company)
	return url + "/api/companies/" + company.ID + "/environments"
}

// send returns the status and the body of an answer.
func send(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func dockerBody(t *testing.T, name, image string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"name": name, "driver": "sandbox", "config": map[string]string{"provider": "docker", "image": image}})
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// C39, C40, C42 through the API, with the provider itself: what is a reference is
// kept as it was entered, and what is none is refused at its field.
func TestC39_C40_C42_ReferencesThroughTheAPI(t *testing.T) {
	srv, err := startServer(t.Context(), options(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Stop(); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	environments, hex := sandboxes(t, srv.URL), strings.Repeat("0123456789abcdef", 4)
	for name, c := range map[string]struct{ image, stored, says string }{
		"C39":                  {"registry.test:5000/team/app@sha256:" + hex, "registry.test:5000/team/app@sha256:" + hex, ""},
		"C40":                  {"registry.test:5000/team/app:1.2@sha256:" + hex, "registry.test:5000/team/app:1.2@sha256:" + hex, ""},
		"capitals in a tag":    {"app:Latest", "app:Latest", ""},
		"a long tag":           {"app:" + strings.Repeat("a", 128), "app:" + strings.Repeat("a", 128), ""},
		"blanks around it":     {" app:1 ", "app:1", ""},
		"sha512":               {"app@sha512:" + hex + hex, "app@sha512:" + hex + hex, ""},
		"capitals in a name":   {"Team/App:1", "", "lower case"},
		"a tag too long":       {"app:" + strings.Repeat("a", 129), "", "128"},
		"no tag":               {"app:", "", ""},
		"no digest":            {"app@", "", ""},
		"a plus in a tag":      {"app:v1+build", "", ""},
		"a URL":                {"https://registry.test/app:1", "", "scheme"},
		"half a digest":        {"app@sha256:abc", "", ""},
		"capitals in a digest": {"app@sha256:" + strings.ToUpper(hex), "", ""},
		"two slashes":          {"team//app", "", ""},
		"two dots":             {"a..b", "", ""},
		"nothing":              {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := send(t, "POST", environments, dockerBody(t, name, c.image))
			if c.stored == "" {
				if status != 422 || !strings.Contains(body, `"field":"config.image"`) || !strings.Contains(body, c.says) {
					t.Errorf("%d %s", status, body)
				}
				return
			}
			var made struct {
				ID       string
				Revision int
				Config   map[string]any
			}
			if err := json.Unmarshal([]byte(body), &made); status != 201 || err != nil || made.Config["image"] != c.stored {
				t.Fatalf("%d %s", status, body)
			}
			again, err := json.Marshal(map[string]any{"config": made.Config})
			if err != nil {
				t.Fatal(err)
			}
			first := made.Revision
			status, body = send(t, "PATCH", srv.URL+"/api/environments/"+made.ID, string(again))
			if err := json.Unmarshal([]byte(body), &made); status != 200 || err != nil || made.Config["image"] != c.stored || made.Revision != first {
				t.Errorf("saved again: %d %s", status, body)
			}
			if strings.Contains(body, ":sha256:") || strings.Contains(body, ":sha512:") {
				t.Errorf("a digest after a colon: %s", body)
			}
		})
	}
}

// Every driver that ships describes its config in a way that a form can show, and
// of a sandbox's every setting says what a change of it means.
func TestSchemasThatShip(t *testing.T) {
	srv, err := startServer(t.Context(), options(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Stop(); err != nil {
			t.Error(err)
		}
	})
	described := 0
	for _, caps := range srv.parts.drivers.Capabilities() {
		schema, err := srv.parts.catalogue.Schema(caps.Key())
		switch {
		case err != nil:
			t.Errorf("%s: %v", caps.Key(), err)
		case schema != nil:
			described++
			for _, key := range []string{"reuseLease", "leasePolicy", "retainSec", "archiveOnRelease", "startupTimeoutSec"} {
				if f, known := schema.Field(key); !known || f.Role != "runtime" {
					t.Errorf("%s: %s has the role %q", caps.Key(), key, f.Role)
				}
			}
			if f, known := schema.Field("image"); !known || f.Role != "image" {
				t.Errorf("%s: image is %+v", caps.Key(), f)
			}
		case caps.Driver == environment.DriverSandbox:
			t.Errorf("%s has no schema", caps.Key())
		}
	}
	if described < 2 {
		t.Errorf("only %d drivers describe their config", described)
	}
}
