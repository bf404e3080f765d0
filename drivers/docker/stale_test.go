package docker_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"berth/drivers/docker"
	"berth/environment"
)

// TestEngineIsReplacedByAnOlderOne asks the next call's version anew.
func TestEngineIsReplacedByAnOlderOne(t *testing.T) {
	t.Parallel()
	var version atomic.Value
	version.Store("1.47")
	spoken := make(chan string, 8)
	spec := specAt(stub(t, func(w http.ResponseWriter, r *http.Request) {
		now := version.Load().(string)
		w.Header().Set("Api-Version", now)
		if !strings.HasSuffix(r.URL.Path, "/containers/json") {
			return
		}
		asked := strings.Split(r.URL.Path, "/")[1]
		spoken <- asked
		w.Header().Set("Content-Type", "application/json")
		if asked != "v"+now {
			http.Error(w, `{"message":"client version `+asked+` is too new"}`, http.StatusBadRequest)
			return
		}
		_, _ = w.Write([]byte("[]"))
	}), "")
	d := driver(t, docker.Options{})
	if _, err := d.List(t.Context(), spec); err != nil || <-spoken != "v1.47" {
		t.Fatalf("list: %v", err)
	}
	version.Store("1.41")
	if _, err := d.List(t.Context(), spec); err == nil || <-spoken != "v1.47" {
		t.Errorf("the first call after it: %v", err)
	}
	if _, err := d.List(t.Context(), spec); err != nil || <-spoken != "v1.41" {
		t.Errorf("the second: %v", err)
	}
	version.Store("1.40")
	if _, err := d.List(t.Context(), spec); err == nil {
		t.Error("one that is too old was used")
	}
	if _, err := d.List(t.Context(), spec); environment.CodeOf(err) != environment.CodeEngineTooOld {
		t.Errorf("one that is too old: %v", err)
	}
}
