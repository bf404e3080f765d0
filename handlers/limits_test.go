package handlers

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/environment/identity"

	"github.com/labstack/echo/v4"
)

func TestLimiter(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	l := newLimiter(30, func() time.Time { return now })
	for i := range 30 {
		if a := l.take("a"); a.wait != 0 || a.left != 29-i {
			t.Fatalf("try %d: %+v", i+1, a)
		}
	}
	if a := l.take("a"); a.wait != 2*time.Second || a.left != 0 || a.full != time.Minute {
		t.Errorf("the 31st: %+v, want to wait 2 s", a)
	}
	if a := l.take("b"); a.wait != 0 {
		t.Errorf("another key must wait %v", a.wait)
	}
	now = now.Add(1999 * time.Millisecond)
	if a := l.take("a"); a.wait == 0 {
		t.Error("it got one a little too early")
	}
	now = now.Add(time.Millisecond)
	if a := l.take("a"); a.wait != 0 {
		t.Errorf("two seconds later it must wait %v", a.wait)
	}
}

func TestLimiterKnowsSoManyKeys(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	l := newLimiter(1, func() time.Time { return now })
	l.take("first")
	for i := range maxLimited - 1 {
		l.take(strconv.Itoa(i))
	}
	if a := l.take("first"); a.wait == 0 {
		t.Error("at the limit the first key was forgotten")
	}
	l.take("one more")
	if len(l.keys) != maxLimited || l.quiet.Len() != maxLimited {
		t.Errorf("%d keys, %d in order, want %d", len(l.keys), l.quiet.Len(), maxLimited)
	}
	if a := l.take("first"); a.wait == 0 {
		t.Error("the key that asked last was forgotten")
	}
	if a := l.take("0"); a.wait != 0 {
		t.Error("the key that was quiet for the longest time was kept")
	}
}

func TestNetworkOfAClient(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "2001:db8:1:2::1": "2001:db8:1:2::/64",
	} {
		if got := (identity.Client{Address: address}).Network(); got != want {
			t.Errorf("%s counts as %s, want %s", address, got, want)
		}
	}
}

// TestLimitedAndOpenRoutesExist: a list that names a route which was renamed
// protects nothing.
func TestLimitedAndOpenRoutesExist(t *testing.T) {
	e := echo.New()
	(&server{Deps: Deps{Dev: true}}).routes(e)
	there := map[string]bool{}
	for _, r := range e.Routes() {
		there[r.Method+" "+r.Path] = true
	}
	for _, route := range append(signInRoutes(), probeRoutes()...) {
		if !there[route] {
			t.Errorf("%s is limited, but is no route", route)
		}
	}
	open := 0
	for route := range there {
		if _, path, _ := strings.Cut(route, " "); isOpen(path) {
			open++
		}
	}
	if open != 12 {
		t.Errorf("%d routes are open to nobody, want 12: if that is meant, say why in isOpen", open)
	}
}
