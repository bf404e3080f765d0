package running_test

import (
	"context"
	"testing"
	"time"

	"berth/environment"
)

// A run that waited while its environment was given another target, or another
// driver, runs nowhere: nobody chose that place for it.
func TestRun_environmentLeadsElsewhere(t *testing.T) {
	tests := map[string]struct {
		change func(*environment.Run)
		code   string
	}{
		"as it was":        {change: func(*environment.Run) {}},
		"another target":   {change: func(r *environment.Run) { r.Target = "u@before:22" }, code: environment.CodeEnvironmentChanged},
		"another driver":   {change: func(r *environment.Run) { r.Driver = environment.DriverLocal }, code: environment.CodeEnvironmentChanged},
		"another provider": {change: func(r *environment.Run) { r.Driver, r.Provider = environment.DriverSandbox, "fake" }, code: environment.CodeEnvironmentChanged},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			target := newTarget(exit(0, 0))
			inBubble(t, target, func(t *testing.T, b *bed) {
				r := environment.Run{ID: environment.NewID(), CompanyID: b.company, EnvironmentID: &b.env.ID, EnvironmentName: b.env.Name, Driver: b.env.Driver,
					Target: "u@h:22", Kind: environment.KindCommand, Command: []string{"x"}, Status: environment.RunQueued, TimeoutSec: 60,
					Owner: environment.NewID(), CreatedAt: time.Now()} // of a server that died
				test.change(&r)
				if err := b.store.CreateRun(context.Background(), r, environment.Activity{}); err != nil {
					t.Fatal(err)
				}
				r = b.end(r.ID)
				if test.code == "" {
					if r.Status != environment.RunSucceeded {
						t.Errorf("got %s, %+v", r.Status, r.Failure)
					}
					return
				}
				if r.Status != environment.RunFailed || r.Failure == nil || r.Failure.Code != test.code || r.LeaseID != nil {
					t.Errorf("got %s, %+v, lease %v; want %s before anything is leased", r.Status, r.Failure, r.LeaseID, test.code)
				}
			})
		})
	}
}
