package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
)

// probed is a server whose one environment is a sandbox, with a probe that ended
// so; company is for which it was asked.
func probed(t *testing.T, result api.ProbeResult) (url string, company *string) {
	t.Helper()
	result.Details.ProbeID = uuid.MustParse(runID)
	result.Details.State = "done"
	result.Details.Stages, result.Details.Presented, result.Details.Trusted = []api.Stage{}, []environment.HostKey{}, []environment.HostKey{}
	company = new(string)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/environments/{id}", func(w http.ResponseWriter, _ *http.Request) {
		answer(t, w, api.Environment{ID: uuid.MustParse(targetID), Name: "Box", Driver: "sandbox", Config: json.RawMessage(`{"provider":"docker"}`)})
	})
	mux.HandleFunc("POST /api/environments/{id}/probe", func(w http.ResponseWriter, r *http.Request) {
		if *company = r.URL.Query().Get("companyId"); *company == "" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = fmt.Fprint(w, `{"error":"There are several companies; say which one is meant.","code":"company_required","remediation":"Name the company: --company on the command line."}`)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		answer(t, w, result)
	})
	mux.HandleFunc("GET /api/probes/{id}", func(w http.ResponseWriter, _ *http.Request) { answer(t, w, result) })
	mux.HandleFunc("GET /api/probes/{id}/events", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, company
}

// TestProbeOfASandbox: people read what was made and what was recorded; scripts get
// it as it is. Exit 6 when it is not ready.
func TestProbeOfASandbox(t *testing.T) {
	recorded, not := true, false
	result := api.ProbeResult{OK: true, Driver: "sandbox", Summary: "It is ready."}
	result.QualificationOutcome = api.QualificationOutcome{Recorded: &recorded, Diagnostic: &api.Diagnostic{Code: "recorded", Message: "linux x64 glibc"}}
	result.Details.Image = &environment.ImageIdentity{Kind: "oci_digest", Reference: "app:1", Digest: "sha256:abc"}
	result.Details.Platform = &environment.Platform{OS: "linux", Arch: "x64", Libc: "glibc"}
	result.Details.Proves = "Proves that a sandbox can be made."
	url, company := probed(t, result)
	got := command(t, url, "", "env", "probe", targetID, "--company", companyID)
	for _, want := range []string{"image app:1 sha256:abc", "platform linux x64 glibc", "qualification: recorded (recorded): linux x64 glibc", "Proves that"} {
		if got.code != 0 || !strings.Contains(got.out, want) {
			t.Errorf("%s\nwant %q", got, want)
		}
	}
	if *company != companyID {
		t.Errorf("it was for %q", *company)
	}
	if got := command(t, url, "", "env", "probe", targetID); got.code != 2 || !strings.Contains(got.errOut, "--company") {
		t.Errorf("without a company: %s", got)
	}
	if got := command(t, url, "", "env", "probe", targetID, "--json"); got.code != 2 || oneJSON(t, got.out)["code"] != "company_required" {
		t.Errorf("without a company, as JSON: %s", got)
	}
	result.OK, result.Recorded, result.Details.Code = false, &not, "create_failed"
	result.Diagnostic = &api.Diagnostic{Code: "probe_failed_revoked", Message: "the test failed"}
	url, _ = probed(t, result)
	got = command(t, url, "", "env", "probe", targetID, "--company", companyID)
	if got.code != 6 || !strings.Contains(got.out, "not recorded (probe_failed_revoked)") {
		t.Errorf("a failed one: %s", got)
	}
	got = command(t, url, "", "env", "probe", targetID, "--company", companyID, "--json")
	if v := oneJSON(t, got.out); got.code != 6 || v["platformQualificationRecorded"] != false || v["code"] != "create_failed" {
		t.Errorf("a failed one, as JSON: %s", got)
	}
}
