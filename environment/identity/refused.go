package identity

import (
	"context"
	"sync"
	"time"

	"berth/environment"
)

// maxRefusals is how many refused attempts of one actor are noted in a minute.
const maxRefusals = 100

// Refused notes an attempt that was refused, in the activity log: once for each,
// and at most a hundred a minute from one actor, so that nobody fills the disk.
// What goes beyond is told once in the server's log. subject is the id that the
// attempt was about, "" when it named none.
func (s *Service) Refused(ctx context.Context, actor environment.Actor, method, route, code, subject string) {
	noted, first := s.refusals.count(string(actor.Kind)+" "+actor.ID.String(), s.now())
	if first {
		s.log.WarnContext(ctx, "further refused attempts of this actor are not in the activity log for a minute",
			"actor", actor.Name, "actorId", actor.ID, "kind", actor.Kind, "limit", maxRefusals)
	}
	if !noted {
		return
	}
	if actor.Kind == environment.ActorNone {
		actor.Name = "somebody"
	}
	entry := s.entry(ctx, actor, "access.refused", "route", actor.ID, map[string]any{
		"method": shortened(method, 16), "route": shortened(route, 200), "code": code, "subject": shortened(subject, 200),
	})
	entry.EntityID = shortened(route, 200)
	if err := s.store.Record(context.WithoutCancel(ctx), entry); err != nil {
		s.log.WarnContext(ctx, "note a refused attempt", "err", err)
	}
}

// refusals counts the refused attempts of each actor within the minute that
// began with the first.
type refusals struct {
	mu sync.Mutex
	of map[string]*refusalCount
}

type refusalCount struct {
	since time.Time
	n     int
}

// count counts one. noted says that it is within the limit, first that it is the
// first beyond it.
func (r *refusals) count(actor string, now time.Time) (noted, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.of[actor]
	if c == nil || now.Sub(c.since) >= time.Minute {
		for other, old := range r.of {
			if now.Sub(old.since) >= time.Minute {
				delete(r.of, other)
			}
		}
		c = &refusalCount{since: now}
		r.of[actor] = c
	}
	c.n++
	return c.n <= maxRefusals, c.n == maxRefusals+1
}
