package handlers

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"berth/environment"
)

// raw sends bytes as they are, and after them a request that ends a connection
// which is still open. It returns every answer.
func (f *front) raw(bytes string) []answer {
	f.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		f.t.Fatal(err)
	}
	if _, err := io.WriteString(conn, bytes+"GET /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"); err != nil {
		f.t.Fatal(err)
	}
	var all []answer
	for in := bufio.NewReader(conn); ; {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return all
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			f.t.Fatalf("read the body of %s: %v", resp.Status, err)
		}
		all = append(all, answer{resp.StatusCode, resp.Header, string(body)})
	}
}

// TestSmuggledRequests sends what a proxy before this server may read in
// another way than it does: each is refused, and what hides in it is no request.
func TestSmuggledRequests(t *testing.T) {
	f := &authFront{front: newFront(t)}
	ada := f.person("ada", true, "")
	key, _ := f.key(environment.Key{PersonID: &ada.ID})
	const hidden = "GET /api/companies HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
	tests := []struct {
		name, bytes string
		status      int
	}{
		{"two hosts", "GET /api/companies HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.test\r\n\r\n", 400},
		{"no host", "GET /api/companies HTTP/1.1\r\n\r\n", 400},
		{"a host with a path", "GET /api/companies HTTP/1.1\r\nHost: 127.0.0.1/x\r\n\r\n", 400},
		{"another host in the target", "GET http://evil.test/api/companies HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 403},
		{"two lengths", "POST /api/companies HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\nContent-Length: 60\r\n\r\n{}" + hidden, 400},
		{"a length and chunks", "POST /api/companies HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 4\r\n" +
			"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
		{"chunks by another name", "POST /api/companies HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + hidden, 501},
		{"two encodings", "POST /api/companies HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + hidden, 501},
		{"a length that is none", "POST /api/companies HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: +2\r\n\r\n{}" + hidden, 400},
		{"a space before the colon", "GET /api/companies HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization : Bearer x\r\n\r\n", 400},
		{"a NUL in a header", "GET /api/companies HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: b\x00c\r\n\r\n", 400},
		{"two keys of which one counts", "GET /api/companies HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + key + "\r\nAuthorization: Bearer b\r\n\r\n", 401},
		{"two origins", "POST /api/companies HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\nOrigin: http://evil.test\r\nContent-Length: 0\r\n\r\n", 403},
		{"a method of lower case", "get /api/companies HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 405},
		{"CONNECT", "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n", 404},
		{"TRACE", "TRACE /api/companies HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: a=b\r\n\r\n", 405},
		{"a method that is hidden", "POST /api/companies HTTP/1.1\r\nHost: 127.0.0.1\r\nX-HTTP-Method-Override: GET\r\nContent-Length: 0\r\n\r\n", 400},
		{"HTTP/0.9", "GET /api/companies\r\n\r\n", 400},
		{"a fragment of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := f.raw(tt.bytes)
			for _, a := range got {
				if a.Status < 400 || strings.Contains(a.Body, "Acme") {
					t.Errorf("it was answered: %d %s", a.Status, a.Body)
				}
			}
			if len(got) == 0 || got[0].Status != tt.status {
				t.Errorf("answers %+v, want %d", got, tt.status)
			}
		})
	}
}

// TestPathsInDisguise: an address has one form.
func TestPathsInDisguise(t *testing.T) {
	f := newFront(t)
	tests := []struct {
		path   string
		status int
	}{
		{"/static/../api/companies", 400},
		{"/static/..%2fapi%2fcompanies", 400},
		{"/static/%2e%2e/api/companies", 400},
		{"/static/..%5capi", 400},
		{"/static/..\\api", 400},
		{"/api/health/../companies", 400},
		{"/api/./companies", 400},
		{"/api/companies/.", 400},
		{"/api/companies/..", 400},
		{"/api%2fcompanies", 400},
		{"/api/environments/a%2Fb", 400},
		{"/api/environments/%00", 400},
		{"//api/companies", 404},
		{"/api//companies", 404},
		{"/api/companies/", 404},
		{"/API/companies", 404},
		{"/api/companies;x=1", 404},
		{"/api/companies%20", 404},
		{"/api/companies", 200},
	}
	for _, tt := range tests {
		got := f.raw("GET " + tt.path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
		if len(got) != 1 || got[0].Status != tt.status {
			t.Errorf("%s: %+v, want %d", tt.path, got, tt.status)
		}
	}
}
