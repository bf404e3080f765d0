package ssh

import (
	"encoding/json"
	"net"
	"testing"
	"time"

	"berth/environment"
)

// TestPool_RouteThatIsForgottenWhileItIsDialled: somebody else has begun the
// route anew meanwhile. Both connections are found, and so are closed.
func TestPool_RouteThatIsForgottenWhileItIsDialled(t *testing.T) {
	t.Parallel()
	p := newPool(time.Minute)
	var key poolKey
	early, _, _ := p.pick(key, nil)
	delete(p.routes, key)
	late, _, _ := p.pick(key, nil)
	first, second := &connection{}, &connection{}
	p.place(key, late, first)
	p.place(key, early, second)
	for n, conn := range []*connection{first, second} {
		if _, found, err := p.pick(key, map[*connection]bool{first: n != 0, second: n != 1}); found != conn || err != nil {
			t.Errorf("connection %d is lost", n+1)
		}
	}
}

// TestPool_KeepsNothingOfAHostThatIsNotThere: each edit of an environment has a
// key of its own.
func TestPool_KeepsNothingOfAHostThatIsNotThere(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(environment.SSHConfig{Host: "127.0.0.1", Port: port, Username: "u", RemoteWorkspacePath: "/w", StrictHostKeyChecking: true})
	if err != nil {
		t.Fatal(err)
	}
	d := New(Options{})
	if _, err := d.Acquire(t.Context(), environment.Spec{Driver: environment.DriverSSH, Config: config}); environment.CodeOf(err) != environment.CodeConnectRefused {
		t.Fatalf("acquire: %v, want connect_refused", err)
	}
	if n := len(d.pool.routes); n != 0 {
		t.Errorf("%d routes are kept", n)
	}
}
