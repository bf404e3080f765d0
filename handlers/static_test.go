package handlers

import (
	"strings"
	"testing"

	"berth/static"
)

func TestStaticFiles(t *testing.T) {
	f := newFront(t)
	for _, name := range static.Names() {
		url := static.URL(name)
		for _, encoding := range []string{"identity", "br", "gzip"} {
			a := f.call("GET", url, "", "Accept-Encoding: "+encoding)
			if a.Status != 200 || a.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
				t.Errorf("%s: %d, %v", url, a.Status, a.Header)
			}
			want, _ := static.File(strings.TrimPrefix(url, static.Prefix))
			if got := unpack(t, a.Header.Get("Content-Encoding"), a.Body); got != string(want) {
				t.Errorf("%s as %s: %d bytes, want %d", url, encoding, len(got), len(want))
			}
		}
		if kind := f.call("GET", url, "").Header.Get("Content-Type"); kind == "application/octet-stream" {
			t.Errorf("%s has no type", url)
		}
	}
	for _, path := range []string{"/static/app.css", "/static/", "/static/app.0000000000000000.css"} {
		if a := f.call("GET", path, ""); a.Status != 404 {
			t.Errorf("%s: %d, want 404", path, a.Status)
		}
	}
}

func TestMetrics(t *testing.T) {
	f := newFront(t)
	f.call("GET", "/api/environments/018f4e9c-0000-7000-8000-000000000000", "")
	f.call("BREW", "/api/health", "")
	a := f.call("GET", "/metrics", "")
	for _, want := range []string{
		`berth_http_request_duration_seconds_count{method="GET",route="/api/environments/:id",status="404"} 1`,
		`method="other"`, `berth_under_way{kind="run",state="running"} 3`, "go_goroutines", "process_resident_memory_bytes",
	} {
		if !strings.Contains(a.Body, want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
	if strings.Contains(a.Body, "BREW") || strings.Contains(a.Body, "018f4e9c") {
		t.Error("the metrics hold what a caller made up")
	}
}
