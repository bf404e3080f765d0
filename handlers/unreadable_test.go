package handlers

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"berth/handlers/api"
)

// What net/http refuses by itself is refused as everything else is, and what
// handlers answer is left alone.
func TestJSONRefusals(t *testing.T) {
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		http.Error(w, "400 Bad Request", http.StatusBadRequest)
	}))
	web.Listener = JSONRefusals(web.Listener)
	web.Start()
	defer web.Close()
	tests := []struct {
		name, request, code string // code "": the handler's own words
		status              int
	}{
		{"a broken escape", "GET /api/environments/% HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request", 400},
		{"another one", "GET /api/environments/%zz HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request", 400},
		{"no host", "GET /api/environments HTTP/1.1\r\n\r\n", "bad_request", 400},
		{"no HTTP at all", "hello\r\n\r\n", "bad_request", 400},
		{"a header without end", "GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 2<<20), "request_header_fields_too_large", 431},
		{"an encoding that nobody knows", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: smoke\r\n\r\n", "not_implemented", 501},
		{"a handler that says the same", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "", 400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", web.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			_, _ = io.WriteString(conn, tt.request) // the server may hang up before its end
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			raw, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			var body api.Error
			err = json.Unmarshal(raw, &body)
			if resp.StatusCode != tt.status || body.Code != tt.code || (tt.code != "") != (err == nil && body.Error != "") {
				t.Errorf("%d %q, want %d %q", resp.StatusCode, raw, tt.status, tt.code)
			}
		})
	}
}

// TestNoRefusalWithinAnAnswer is an attack by whoever has a say in what a page
// shows, such as the output of a run: text that looks like a refusal of net/http
// must arrive as it is, wherever in the answer a write to the connection begins.
func TestNoRefusalWithinAnAnswer(t *testing.T) {
	const bare = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
	page := func(before int) string { return strings.Repeat("x", before) + bare + strings.Repeat("y", 10_000) }
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before, _ := strconv.Atoi(r.URL.Query().Get("before"))
		w.Header().Set("Content-Length", strconv.Itoa(len(page(before))))
		_, _ = io.WriteString(w, page(before)) // the caller sees what is missing
	}))
	web.Listener = JSONRefusals(web.Listener)
	web.Config.SetKeepAlivesEnabled(false)
	web.Start()
	defer web.Close()
	for before := 3700; before < 4100; before++ { // net/http's buffer has 4 KiB
		resp, err := web.Client().Get(web.URL + "?before=" + strconv.Itoa(before))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close() // never fails
		if err != nil || string(got) != page(before) {
			t.Fatalf("after %d characters: %d arrived of %d, %v", before, len(got), len(page(before)), err)
		}
	}
}
