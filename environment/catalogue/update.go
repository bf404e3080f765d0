package catalogue

import (
	"context"
	"reflect"
	"slices"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// attempts is how often a write without If-Match begins again when another one
// came between.
const attempts = 10

// Update applies a patch. ifRevision nil means "whatever it is now". KindStale
// carries the details current (revision), changedBy, changedAt and
// changedFields. A patch that changes nothing writes nothing.
func (s *Service) Update(ctx context.Context, actor environment.Actor, id uuid.UUID, ifRevision *int, p environment.Patch) (environment.Environment, error) {
	if err := access.May(actor, access.ManageEnvironment, access.Instance); err != nil {
		return environment.Environment{}, err
	}
	if err := s.enabled(ctx); err != nil {
		return environment.Environment{}, err
	}
	if err := mayMake(actor, p.NewSecrets); err != nil {
		return environment.Environment{}, err
	}
	var c *planned
	saved, err := s.rewrite(ctx, id, ifRevision, func(old environment.EnvironmentView) (_ Write, err error) {
		if c, err = s.plan(ctx, &old.Environment, p); err != nil {
			return Write{}, err
		}
		if err := c.refusal(); err != nil {
			return Write{}, err
		}
		if err := lockRefusal(old, c.next); err != nil {
			return Write{}, err
		}
		if err := statusRefusal(old, c.next.Status); err != nil {
			return Write{}, err
		}
		return s.writeOf(ctx, actor, c)
	})
	if err != nil && c != nil {
		err = c.atSecret(err)
	}
	return saved, err
}

// rewrite reads a row, lets build say what to write, and writes it; again when
// another write came between and no revision was asked for. A Write without
// activity is no change.
func (s *Service) rewrite(ctx context.Context, id uuid.UUID, ifRevision *int, build func(environment.EnvironmentView) (Write, error)) (environment.Environment, error) {
	for attempt := 1; ; attempt++ {
		view, err := s.environment(ctx, id)
		if err != nil {
			return environment.Environment{}, err
		}
		if ifRevision != nil && *ifRevision != view.Revision {
			return environment.Environment{}, s.stale(ctx, view, *ifRevision)
		}
		w, err := build(view)
		if err != nil {
			return environment.Environment{}, err
		}
		if w.Activity.Action == "" {
			return view.Environment, nil
		}
		saved, err := s.store.UpdateEnvironment(ctx, w, view.Revision)
		sealedAnew := environment.CodeOf(err) == environment.CodeKeysetChanged && attempt < environment.KeyTurns
		if err == nil || environment.KindOf(err) != environment.KindStale && !sealedAnew {
			return saved, atName(err)
		}
		if ifRevision == nil && attempt == attempts {
			return environment.Environment{}, err
		}
	}
}

// writeOf turns a plan into a write; without activity when nothing changed.
func (s *Service) writeOf(ctx context.Context, actor environment.Actor, c *planned) (Write, error) {
	diff := differences(*c.old, c.next)
	if len(diff) == 0 {
		return Write{}, nil
	}
	sealed, entries, err := c.seal(ctx, actor)
	if err != nil {
		return Write{}, err
	}
	drops, err := c.drops(ctx)
	if err != nil {
		return Write{}, err
	}
	action := "environment.updated"
	if c.old.Status != c.next.Status {
		switch {
		case c.next.Status == environment.StatusArchived:
			action = "environment.archived"
		case c.old.Status == environment.StatusArchived:
			action = "environment.restored"
		}
	}
	details := diff.Details()
	details["name"], details["revision"] = c.next.Name, c.old.Revision+1
	return Write{
		Environment: c.next, NewSecrets: sealed, DropSecrets: drops, Bindings: c.bindings, MoreActivity: entries,
		ConfigChanged: configDiffers(*c.old, c.next), RevokeFor: s.revokedFor(*c.old, c.next),
		Activity: s.activity(ctx, actor, action, "environment", c.next.ID.String(), details),
	}, nil
}

func configDiffers(old, next environment.Environment) bool {
	return old.Driver != next.Driver || canonical(old.Config) != canonical(next.Config) || !sameVars(old.EnvVars, next.EnvVars)
}

func sameVars(a, b map[string]environment.EnvVar) bool {
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}

// statusRefusal keeps Local, and the default, in service.
func statusRefusal(old environment.EnvironmentView, next environment.Status) error {
	if next != environment.StatusArchived || old.Status == environment.StatusArchived {
		return nil
	}
	if old.Driver == environment.DriverLocal {
		return environment.Conflict("managed_local", "The local environment cannot be archived.")
	}
	if old.IsDefault {
		return environment.IsTheDefault(old.Name)
	}
	return nil
}

// stale says who changed what since the revision that a caller knows.
func (s *Service) stale(ctx context.Context, view environment.EnvironmentView, known int) error {
	e := environment.NewError(environment.KindStale, environment.CodeStaleRevision, "“"+view.Name+"” was changed since you read it.").
		Remedy("Load it again and repeat your change.").
		With("current", view.Revision).With("changedBy", "").With("changedAt", view.UpdatedAt).With("changedFields", []string{})
	page, err := s.store.Activity(ctx, environment.ActivityFilter{EntityType: "environment", EntityID: view.ID.String(), Limit: 100})
	if err != nil {
		return e.Because(err)
	}
	var fields []string
	newest := true
	for _, entry := range page.Items {
		if revision, ok := number(entry.Details["revision"]); !ok || revision <= known {
			continue
		}
		if newest {
			e, newest = e.With("changedBy", entry.ActorName).With("changedAt", entry.CreatedAt), false
		}
		fields = append(fields, texts(entry.Details["changedFields"])...)
	}
	slices.Sort(fields)
	return e.With("changedFields", append([]string{}, slices.Compact(fields)...))
}

// number and texts read details back, from memory or from JSON.
func number(v any) (int, bool) {
	switch n := v.(type) {
	case int:
		return n, true
	case float64:
		return int(n), true
	}
	return 0, false
}

func texts(v any) []string {
	if list, ok := v.([]string); ok {
		return list
	}
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}
