package ssh_test

import (
	"testing"

	"berth/drivers/ssh/sshdtest"
	"berth/environment"
)

// TestReady: the session of a run is opened once, whoever asks first, serves that
// run, and is closed when no work comes for it.
func TestReady(t *testing.T) {
	t.Parallel()
	s := sshdtest.Start(t, sshdtest.Config{KeyTypes: []string{"ed25519"}})
	d := newDriver(t)
	spec := specOf(t, d, settings(s, nil))
	d.Ready(spec)() // no run, no connection: nothing to do
	if n := s.Connections(); n != 0 {
		t.Errorf("%d connections were made for nothing", n)
	}
	for range 2 { // over a new connection, then over one that is known
		run := environment.NewID()
		spec.RunID = &run
		done := d.Ready(spec)
		ref, err := d.Acquire(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		var o output
		e := command(&o, "echo", "x")
		e.Marker = run.String()
		result, err := d.Exec(t.Context(), ref, e)
		if err != nil || result.ExitCode != 0 || o.stdout.String() != "x\n" {
			t.Errorf("got %+v, %v, %q", result, err, o.stdout.String())
		}
		done()
		if _, err := d.Release(t.Context(), ref, environment.Keep); err != nil {
			t.Error(err)
		}
	}
	never := environment.NewID()
	spec.RunID = &never
	d.Ready(spec)()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	sshdtest.Wait(t, "no session is left, early ones neither", func() bool { return s.Connections() == 0 })
}
