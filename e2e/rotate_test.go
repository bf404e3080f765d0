package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestDrill_KilledWhileTheKeyIsTurned kills the server at one moment after another
// of a turn of the master key. Each time it starts again, opens everything, and the
// same command goes on to the end.
func TestDrill_KilledWhileTheKeyIsTurned(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.furnish(t, "Turning")
	const many = 180 // more than one batch
	first := s.secrets(t, 0, many)
	env := s.readsSecrets(t, first)
	for _, after := range []time.Duration{time.Millisecond, 4 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond} {
		done := make(chan error, 1)
		go func() {
			_, _, err := s.try("POST", "/api/instance/rotate-key", nil)
			done <- err
		}()
		cut := time.NewTimer(after)
		<-cut.C
		s.kill(t)
		err := <-done
		t.Logf("killed %v after the command, which was answered: %v", after, err == nil)
		s.start(t)
		s.openAll(t, env, many)
	}
	var turned struct{ From, To string }
	s.call(t, "POST", "/api/instance/rotate-key", nil, &turned, 200)
	s.openAll(t, env, many)
}

// secrets makes n secrets of the company and returns their ids.
func (s *server) secrets(t *testing.T, from, n int) []string {
	t.Helper()
	ids := make([]string, n)
	for i := range ids {
		var made struct{ ID string }
		s.call(t, "POST", "/api/companies/"+s.company+"/secrets", map[string]any{"name": fmt.Sprint("secret ", from+i), "value": fmt.Sprint("value-", from+i)}, &made, 201)
		ids[i] = made.ID
	}
	return ids
}

// readsSecrets saves an environment whose variables are the secrets.
func (s *server) readsSecrets(t *testing.T, ids []string) string {
	t.Helper()
	local, ok := s.named(t, "Local")
	if !ok {
		t.Fatal("there is no Local")
	}
	vars := map[string]any{}
	for i, id := range ids {
		vars[fmt.Sprint("V", i)] = map[string]any{"type": "secret_ref", "secretId": id}
	}
	s.call(t, "PATCH", "/api/environments/"+local.ID, map[string]any{"envVars": vars}, nil, 200)
	return local.ID
}

// openAll has a run count the variables that hold what they should.
func (s *server) openAll(t *testing.T, env string, n int) {
	t.Helper()
	run := s.begin(t, env, "sh", "-c", `i=0; ok=0; while [ $i -lt `+fmt.Sprint(n)+` ]; do [ "$(printenv V$i)" = "value-$i" ] && ok=$((ok+1)); i=$((i+1)); done; echo right: $ok.`)
	if got := s.ends(t, run, 60*time.Second); got.Status != "succeeded" {
		t.Fatalf("the run %s", got)
	}
	if out := s.output(t, run, "stdout"); !strings.Contains(out, fmt.Sprintf("right: %d.", n)) {
		t.Errorf("the run says %q, want %d right", out, n)
	}
}
