package running_test

import (
	"context"
	"testing"
	"time"

	"berth/environment"
)

// What ended a run without its command or a person having done so is in the log.
func TestActivity_automatic(t *testing.T) {
	ended := func(how string, proven bool) []step {
		return []step{out(0, "x"), {after: time.Second, result: &environment.ExecResult{Ended: how, Proven: proven}}}
	}
	tests := map[string]struct {
		steps   []step
		prepare func(*target)
		want    string // "": nothing
		code    string
	}{
		"success":       {[]step{exit(0, 0)}, nil, "", ""},
		"exit code":     {[]step{exit(0, 3)}, nil, "", ""},
		"timeout":       {[]step{out(time.Hour, "")}, nil, "run.timed_out", environment.CodeTimedOut},
		"lost":          {ended("grace", true), nil, "run.lost", environment.CodeConnectionLost},
		"no folder":     {ended("not_started", true), nil, "run.failed", environment.CodeWorkspaceFailed},
		"not reachable": {[]step{exit(0, 0)}, func(t *target) { t.refuseAcquire = environment.Unavailable(environment.CodeConnectRefused, "no") }, "run.not_started", environment.CodeConnectRefused},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			target := newTarget(test.steps...)
			if test.prepare != nil {
				test.prepare(target)
			}
			inBubble(t, target, func(t *testing.T, b *bed) {
				r := b.end(b.start(b.input("x")).ID)
				page, err := b.store.Activity(context.Background(), environment.ActivityFilter{EntityType: "run", EntityID: r.ID.String()})
				if err != nil {
					t.Fatal(err)
				}
				if test.want == "" {
					if len(page.Items) != 1 {
						t.Errorf("got %+v, want the start alone", page.Items)
					}
					return
				}
				got := page.Items[0]
				if len(page.Items) != 2 || got.Action != test.want || got.ActorKind != environment.ActorSystem || got.Details["code"] != test.code || *got.CompanyID != r.CompanyID {
					t.Errorf("got %+v, want %s of the system", got, test.want)
				}
			})
		})
	}
}
