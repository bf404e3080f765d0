package handlers

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"testing"

	"berth/environment"
	"berth/environment/identity"
)

// TestHeldBackRequest is an attack by whoever is about to lose a right: a request
// is begun while it may be, its last byte is held back until the right is gone, and
// must not be carried out then.
func TestHeldBackRequest(t *testing.T) {
	const json, page = "application/json", "application/x-www-form-urlencoded"
	tests := []struct {
		name, path, kind, body string
		revoke                 func(f *authFront, ada environment.Person)
		want                   int
	}{
		{"nothing happens", "/api/companies", json, `{"name":"Held"}`, func(*authFront, environment.Person) {}, 201},
		{"disabled, JSON", "/api/companies", json, `{"name":"Held"}`, (*authFront).disable, 401},
		{"disabled, a form", "/companies", page, "name=Held", (*authFront).disable, 401},
		{"no admin any more, JSON", "/api/companies", json, `{"name":"Held"}`, (*authFront).demote, 403},
		{"no admin any more, a form", "/companies", page, "name=Held", (*authFront).demote, 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newAuthFront(t)
			f.server.askAgain = 0
			f.person("grace", true, "")
			ada := f.person("ada", true, "")
			key, _ := f.key(environment.Key{PersonID: &ada.ID})
			last, rest := io.Pipe()
			// The server asks for the body when the request was let in.
			let := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() {
				tt.revoke(f, ada)
				go func() {
					_, err := rest.Write([]byte(tt.body))
					_ = rest.CloseWithError(err) // never fails
				}()
			}})
			req, err := http.NewRequestWithContext(let, "POST", f.url+tt.path, last)
			must(t, err)
			req.Header.Set("Content-Type", tt.kind)
			req.Header.Set("Authorization", "Bearer "+key)
			req.Header.Set("Expect", "100-continue")
			resp, err := http.DefaultTransport.RoundTrip(req)
			must(t, err)
			must(t, resp.Body.Close())
			if resp.StatusCode != tt.want {
				t.Errorf("answered %d, want %d", resp.StatusCode, tt.want)
			}
			companies, err := f.store.Companies(t.Context())
			must(t, err)
			made := false
			for _, c := range companies {
				made = made || c.Name == "Held"
			}
			if made != (tt.want == 201) {
				t.Errorf("the company was made: %v", made)
			}
		})
	}
}

// demote makes somebody an admin no more.
func (f *authFront) demote(p environment.Person) {
	f.t.Helper()
	no := false
	if _, err := f.store.UpdatePerson(f.t.Context(), p.ID, identity.PersonPatch{InstanceAdmin: &no}, environment.Activity{}); err != nil {
		f.t.Fatal(err)
	}
}
