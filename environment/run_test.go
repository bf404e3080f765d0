package environment_test

import (
	"testing"

	"berth/environment"
)

func TestRun_OnlyProgress(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*environment.Run)
		want   bool
	}{
		{"a next step", func(r *environment.Run) { r.Status = environment.RunPreparing }, true},
		{"its process", func(r *environment.Run) { r.Process = &environment.Process{Pid: 7} }, true},
		{"an end", func(r *environment.Run) { r.Status = environment.RunFailed }, false},
		{"a wish to end", func(r *environment.Run) { r.CancelBy = new("somebody") }, false},
		{"an exit code", func(r *environment.Run) { r.ExitCode = new(0) }, false},
		{"a signal", func(r *environment.Run) { r.Signal = new("KILL") }, false},
		{"a failure", func(r *environment.Run) { r.Failure = &environment.Failure{Code: "x"} }, false},
		{"a termination", func(r *environment.Run) { r.Termination = "proven" }, false},
		{"another server", func(r *environment.Run) { r.Owner = environment.NewID() }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := environment.Run{ID: environment.NewID(), Status: environment.RunAcquiring}
			next := before
			c.change(&next)
			if got := before.OnlyProgress(next); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	told := environment.Run{Status: environment.RunCancelling, CancelBy: new("somebody"), Failure: &environment.Failure{Code: "x"}}
	next := told
	next.CancelBy, next.Failure, next.Process = new("somebody"), &environment.Failure{Code: "x"}, &environment.Process{}
	if !told.OnlyProgress(next) {
		t.Error("the same said again is no more than progress")
	}
}
