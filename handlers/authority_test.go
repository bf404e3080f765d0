package handlers

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
)

// registered are all routes of the server, with previews.
func registered() []string {
	e := echo.New()
	(&server{Deps: Deps{Dev: true}}).routes(e)
	routes := []string{}
	for _, r := range e.Routes() {
		if r.Method != echo.RouteNotFound {
			routes = append(routes, r.Method+" "+r.Path)
		}
	}
	slices.Sort(routes)
	return routes
}

// TestEveryRouteIsInTheTable: and every row of the table is a route.
func TestEveryRouteIsInTheTable(t *testing.T) {
	routes, judged := registered(), map[string]bool{}
	for _, r := range rulings() {
		if judged[r.route] {
			t.Errorf("%s is in the table twice", r.route)
		}
		judged[r.route] = true
		if len(strings.Fields(r.want)) != len(audience()) {
			t.Errorf("%s has %d outcomes for %d actors", r.route, len(strings.Fields(r.want)), len(audience()))
		}
		if !slices.Contains(routes, r.route) {
			t.Errorf("%s is in the table and is no route", r.route)
		}
	}
	for _, route := range routes {
		if !judged[route] {
			t.Errorf("%s is not in the table: add a row to authority_table_test.go", route)
		}
	}
}

// bodyOf is an empty body of the kind that a route takes.
func bodyOf(method, path string) string {
	if strings.HasPrefix(path, "/api/") && method != http.MethodGet && method != http.MethodDelete {
		return "{}"
	}
	return ""
}

// outcome is an answer in the table's words.
func outcome(a answer, path string) string {
	page := !strings.HasPrefix(path, "/api/") && path != "/metrics"
	switch {
	case a.Status == http.StatusUnauthorized, page && a.Status == http.StatusSeeOther && strings.HasPrefix(a.Header.Get("Location"), "/signin"):
		return "401"
	case a.Status == http.StatusForbidden, a.Status == http.StatusNotFound:
		return fmt.Sprint(a.Status)
	case a.Status < 500 || a.Status == http.StatusServiceUnavailable:
		return "may"
	}
	return fmt.Sprintf("%d %.300s", a.Status, a.Body)
}

// TestEveryRouteForEveryActor asks each route as each actor, on rows of its own,
// and compares with the table.
func TestEveryRouteForEveryActor(t *testing.T) {
	for _, r := range rulings() {
		t.Run(r.route, func(t *testing.T) {
			t.Parallel()
			method, pattern, _ := strings.Cut(r.route, " ")
			common := newHouse(t, "")
			for actor, want := range r.wants() {
				h := common
				if actor == "local operator" || want == "may" && method != http.MethodGet {
					h = newHouse(t, actor) // what it does is not in the way of others
				}
				path := h.fill(pattern, actor)
				a := h.ask(actor, method, path, bodyOf(method, pattern))
				got := outcome(a, pattern)
				switch {
				case r.want == open && got == "404": // there is nothing at such an address
					got = "may"
				case got == "401" && (isSignIn(pattern) || isSignOut(pattern) && actor != "nobody"):
					got = "may" // an empty sign-in fails, and who has signed out is sent there
				}
				if got != want {
					t.Errorf("%s: %s as %s, want %s: %d %.300s", r.route, got, actor, want, a.Status, a.Body)
				}
			}
		})
	}
	text := accessTable()
	t.Logf("%d routes × %d actors: %d outcomes\n%s", len(rulings()), len(audience()), len(rulings())*len(audience()), text)
	checkAccessPage(t, text)
}

// isSignIn reports whether a route answers 401 to whoever gets a password wrong.
func isSignIn(pattern string) bool {
	return slices.Contains([]string{"/signin", "/api/auth/sign-in", "/api/auth/token"}, pattern)
}

func isSignOut(pattern string) bool {
	return slices.Contains([]string{"/signout", "/account/sessions/end"}, pattern)
}

// checkAccessPage keeps docs/access.md true; with BERTH_WRITE_ACCESS it is
// written.
func checkAccessPage(t *testing.T, table string) {
	const file = "../docs/access.md"
	want := "# Who may use which route\n\n" +
		"Written by a test (`handlers/authority_table_test.go`), which asks every route as every actor and compares.\n" +
		"Agents, members, admins and owners are of one company, whose rows the addresses name; the foreign ones are of\n" +
		"another; the agent is the one whose run it is. On a page, 401 is the way to sign in. 404 is what a thing that does\n" +
		"not exist gives, byte for byte.\n\n" + table
	if os.Getenv("BERTH_WRITE_ACCESS") != "" {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil || string(have) != want {
		t.Errorf("docs/access.md is not what the table says (%v); write it again with BERTH_WRITE_ACCESS=1", err)
	}
}

func accessTable() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| route | %s |\n|---%s|\n", strings.Join(audience(), " | "), strings.Repeat("|---", len(audience())))
	for _, r := range rulings() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.route, strings.Join(strings.Fields(r.want), " | "))
	}
	fmt.Fprintf(&b, "\n%d routes, %d actors, %d outcomes.\n", len(rulings()), len(audience()), len(rulings())*len(audience()))
	return b.String()
}

// eachRefusal calls check for every cell of the table that refuses, in a house for
// each route: refusals change nothing.
func eachRefusal(t *testing.T, words string, check func(t *testing.T, h *house, r ruling, actor, want string)) {
	for _, r := range rulings() {
		t.Run(r.route, func(t *testing.T) {
			t.Parallel()
			common := newHouse(t, "")
			for actor, want := range r.wants() {
				if strings.Contains(words, want) {
					h := common
					if actor == "local operator" {
						h = newHouse(t, actor)
					}
					h.ask(actor, http.MethodGet, "/api/cli-auth/me", "") // notes when the key was used
					check(t, h, r, actor, want)
				}
			}
		})
	}
}

// TestC73_ARefusalByRoleChangesNothing: it comes before the request is read, and
// is noted once.
func TestC73_ARefusalByRoleChangesNothing(t *testing.T) {
	eachRefusal(t, "401 403", func(t *testing.T, h *house, r ruling, actor, want string) {
		method, pattern, _ := strings.Cut(r.route, " ")
		noted := h.refusals()
		h.ask(actor, method, h.fill(pattern, actor), bodyOf(method, pattern))
		h.isUnchanged("refused as " + actor)
		if got := h.refusals() - noted; want == "403" && got != 1 || want == "401" && got != 0 {
			t.Errorf("as %s: %d attempts are noted", actor, got)
		}
		if r.route == "POST /companies" && want == "403" {
			return // its form says which of two things is wanted
		}
		broken := strings.NewReplacer(":id", "x", ":pid", "x", ":kid", "x", ":token", "x").Replace(pattern)
		body := "a=%zz"
		if strings.HasPrefix(pattern, "/api/") {
			body = "{"
		}
		if method == http.MethodGet {
			body = ""
		}
		a := h.ask(actor, method, h.fill(broken, actor)+"?limit=x&sort=x&status=x&tab=x&offset=x", body)
		if got := outcome(a, pattern); got != want {
			t.Errorf("as %s: a request that cannot be read gives %s (%d %.200s), want %s first", actor, got, a.Status, a.Body, want)
		}
	})
}

// TestC71_AForeignIDIsLikeARandomOne: byte for byte, and nothing is changed; the
// attempt on the one that exists is noted.
func TestC71_AForeignIDIsLikeARandomOne(t *testing.T) {
	eachRefusal(t, "404", func(t *testing.T, h *house, r ruling, actor, _ string) {
		method, pattern, _ := strings.Cut(r.route, " ")
		noted := h.refusals()
		foreign := h.fill(pattern, actor)
		a := h.ask(actor, method, foreign, bodyOf(method, pattern))
		if got := h.refusals() - noted; got != 1 {
			t.Errorf("as %s: %d attempts are noted", actor, got)
		}
		random := h.elsewhere().fill(pattern, actor)
		b := h.ask(actor, method, random, bodyOf(method, pattern))
		if a.Status != b.Status || neutral(a.Body, foreign) != neutral(b.Body, random) {
			t.Errorf("as %s: %d %.300s\nand for a random id %d %.300s", actor, a.Status, a.Body, b.Status, b.Body)
		}
		for name, values := range a.Header {
			if !slices.Equal(values, b.Header[name]) {
				t.Errorf("as %s: the header %s is %q, and for a random id %q", actor, name, values, b.Header[name])
			}
		}
		h.isUnchanged("not found as " + actor)
	})
}

// neutral is a page without the address that was asked for, which it repeats.
func neutral(body, path string) string {
	for part := range strings.SplitSeq(path, "/") {
		if len(part) == 36 {
			body = strings.ReplaceAll(body, part, "ID")
		}
	}
	return body
}
