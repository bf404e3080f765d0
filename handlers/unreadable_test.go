package handlers

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
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
