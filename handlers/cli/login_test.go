package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/handlers/api"
	"berth/handlers/cli"

	"github.com/google/uuid"
)

// door is a server that gives a token for one password and says who asks.
func door(t *testing.T) (base string, revoked *[]string) {
	t.Helper()
	revoked = &[]string{}
	id := uuid.MustParse("0190aaaa-0000-7000-8000-000000000001")
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if err := json.NewEncoder(w).Encode(v); err != nil {
			t.Error(err)
		}
	}
	mux.HandleFunc("POST /api/auth/token", func(w http.ResponseWriter, r *http.Request) {
		var in api.SignInForToken
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.Header.Get("Authorization") != "" {
			t.Errorf("sign-in: %v, with a key %q", err, r.Header.Get("Authorization"))
		}
		if in.Password != "correct horse battery" {
			answer(w, http.StatusUnauthorized, api.Error{Error: "The address or the password is wrong.", Code: "sign_in_failed"})
			return
		}
		answer(w, http.StatusCreated, api.MadeKey{Key: api.Key{ID: id, Name: in.Name}, Token: "token-canary"})
	})
	mux.HandleFunc("GET /api/cli-auth/me", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer token-canary" {
			answer(w, http.StatusUnauthorized, api.Error{Error: "Sign in first.", Code: "unauthenticated"})
			return
		}
		answer(w, http.StatusOK, api.Me{User: &api.Person{Name: "Ada", Email: "ada@example.com"}, IsInstanceAdmin: true})
	})
	mux.HandleFunc("DELETE /api/account/tokens/{id}", func(w http.ResponseWriter, r *http.Request) {
		*revoked = append(*revoked, r.PathValue("id"))
		w.WriteHeader(http.StatusNoContent)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, revoked
}

// at runs one command line of somebody whose home is a folder.
func at(t *testing.T, home, base, stdin string, args ...string) outcome {
	t.Helper()
	var out, errOut bytes.Buffer
	env := cli.Env{Args: args, In: strings.NewReader(stdin), Out: &out, Err: &errOut,
		Getenv: func(name string) string { return map[string]string{"BERTH_API_BASE": base, "HOME": home}[name] }}
	code := cli.Execute(context.Background(), env, cli.Hooks{})
	return outcome{code, out.String(), errOut.String()}
}

func TestLogin_keepsTheTokenForThatServer(t *testing.T) {
	base, revoked := door(t)
	home := t.TempDir()
	if got := at(t, home, base, "", "whoami"); got.code != 4 {
		t.Fatalf("whoami before: %s, want exit 4", got)
	}
	got := at(t, home, base, "correct horse battery\n", "login", "--email", "ada@example.com", "--password-file", "-")
	if got.code != 0 || strings.Contains(got.out+got.errOut, "canary") {
		t.Fatalf("login: %s, want exit 0 and no token", got)
	}
	path := filepath.Join(home, ".config", "berth", "credentials.json")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("file of tokens: %v, %v, want mode 0600", info, err)
	}
	if got := at(t, home, base+"/api/", "", "whoami"); got.code != 0 || !strings.Contains(got.out, "Ada <ada@example.com>, instance admin") {
		t.Errorf("whoami: %s", got)
	}
	other, _ := door(t)
	if got := at(t, home, other, "", "whoami"); got.code != 4 {
		t.Errorf("the token of one server went to another: %s", got)
	}
	if got := at(t, home, base, "", "logout"); got.code != 0 || len(*revoked) != 1 {
		t.Errorf("logout: %s, revoked %v, want one", got, *revoked)
	}
	if got := at(t, home, base, "", "whoami"); got.code != 4 {
		t.Errorf("whoami after: %s, want exit 4", got)
	}
}

func TestLogin_refusals(t *testing.T) {
	base, _ := door(t)
	exposed := t.TempDir()
	path := filepath.Join(exposed, ".config", "berth", "credentials.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		home, stdin string
		args        []string
		code        int
		says        string
	}{
		"wrong password":       {t.TempDir(), "no", []string{"login", "--email", "a@b.c", "--password-file", "-"}, 4, "wrong"},
		"no terminal":          {t.TempDir(), "", []string{"login", "--email", "a@b.c"}, 2, "--password-file"},
		"no address":           {t.TempDir(), "", []string{"login", "--password-file", "-"}, 2, "--email"},
		"a file others read":   {exposed, "", []string{"whoami"}, 2, "0644"},
		"revoke without --yes": {t.TempDir(), "", []string{"token", "revoke", "x"}, 2, "--yes"},
		"value on the line":    {t.TempDir(), "", []string{"secret", "create", "A", "--value", "canary"}, 2, "refused"},
		"no value":             {t.TempDir(), "", []string{"secret", "create", "A"}, 2, "--value-file"},
		"a time that is none":  {t.TempDir(), "", []string{"activity", "--since", "yesterday"}, 2, "--since"},
	} {
		t.Run(name, func(t *testing.T) {
			got := at(t, c.home, base, c.stdin, c.args...)
			if got.code != c.code || !strings.Contains(got.errOut, c.says) || strings.Contains(got.errOut, "canary") {
				t.Errorf("got %s, want exit %d and %q", got, c.code, c.says)
			}
		})
	}
}
