package handlers

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"berth/environment"
)

// TestLateBody: what does not arrive in time is answered and hung up on, whether
// the body is read, refused unread, or not looked at.
func TestLateBody(t *testing.T) {
	f := newAuthFront(t)
	ada := f.person("ada", true, "")
	text, _ := f.key(environment.Key{PersonID: &ada.ID})
	key := "\r\nAuthorization: Bearer " + text
	s := newServer(f.server.Deps)
	s.bodyWithin, s.assets = 100*time.Millisecond, packedForms{}
	web := httptest.NewServer(s.handler())
	defer web.Close()
	const asJSON, asForm = "\r\nContent-Type: application/json", "\r\nContent-Type: application/x-www-form-urlencoded"
	for name, tc := range map[string]struct {
		head, length string
		status       int
	}{
		"JSON of nobody":    {"POST /api/auth/sign-in HTTP/1.1" + asJSON, "Content-Length: 500", 408},
		"a form of nobody":  {"POST /signin HTTP/1.1" + asForm, "Content-Length: 500", 408},
		"JSON in chunks":    {"POST /api/auth/sign-in HTTP/1.1" + asJSON, "Transfer-Encoding: chunked", 408},
		"JSON with a key":   {"POST /api/companies HTTP/1.1" + asJSON + key, "Content-Length: 500", 408},
		"a form with a key": {"POST /companies HTTP/1.1" + asForm + key, "Content-Length: 500", 408},
		"refused unread":    {"POST /api/companies HTTP/1.1" + asJSON, "Content-Length: 500", 401},
		"not looked at":     {"GET /api/health HTTP/1.1", "Content-Length: 500", 200},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", web.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
				t.Fatal(err)
			}
			begin := "5\r\n{\"e"
			if !strings.HasPrefix(tc.length, "Transfer") {
				begin = "{\"e"
			}
			if _, err := io.WriteString(conn, tc.head+"\r\nHost: 127.0.0.1\r\n"+tc.length+"\r\n\r\n"+begin); err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(conn)
			answer, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(answer.Body)
			if err != nil || answer.StatusCode != tc.status || len(body) == 0 {
				t.Errorf("status %d, want %d: %s, %v", answer.StatusCode, tc.status, body, err)
			}
			if _, err := in.ReadByte(); err != io.EOF {
				t.Errorf("the connection stays open: %v", err)
			}
		})
	}
}
