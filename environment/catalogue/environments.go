package catalogue

import (
	"context"
	"fmt"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// List returns a page of environments, reduced for who may not see them whole. A
// filter that cannot be is KindUnreadable. While only managed sandboxes are
// allowed, Local is left out.
func (s *Service) List(ctx context.Context, actor environment.Actor, f environment.ListFilter) (environment.Page[environment.EnvironmentView], error) {
	none := environment.Page[environment.EnvironmentView]{}
	if err := access.May(actor, access.ReadEnvironments, access.Instance); err != nil {
		return none, err
	}
	if err := filterProblem(f); err != nil {
		return none, err
	}
	settings, err := s.store.Settings(ctx)
	if err != nil {
		return none, err
	}
	whole := access.Whole(actor)
	f.NamesOnly = f.NamesOnly || !whole
	page, err := s.store.ListEnvironments(ctx, f)
	if err != nil || whole && !settings.EnableManagedSandboxOnly {
		return page, err
	}
	shown := page.Items[:0]
	for _, v := range page.Items {
		if settings.Hides(v.Driver) {
			continue
		}
		if !whole {
			v = v.Reduced()
		}
		shown = append(shown, v)
	}
	page.Items = shown
	return page, nil
}

// Revision is the catalogue's revision, for caches.
func (s *Service) Revision(ctx context.Context) (int64, error) { return s.store.CatalogueRevision(ctx) }

// Get returns one environment, reduced for who may not see it whole;
// KindNotFound with code environment_not_found.
func (s *Service) Get(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.EnvironmentView, error) {
	if err := access.May(actor, access.ReadEnvironments, access.Instance); err != nil {
		return environment.EnvironmentView{}, err
	}
	view, err := s.environment(ctx, id)
	if err != nil || access.Whole(actor) {
		return view, err
	}
	return view.Reduced(), nil
}

// environment reads one. Local is not found while only managed sandboxes are
// allowed.
func (s *Service) environment(ctx context.Context, id uuid.UUID) (environment.EnvironmentView, error) {
	view, err := s.store.Environment(ctx, id)
	if err != nil || view.Driver != environment.DriverLocal {
		return view, err
	}
	settings, err := s.store.Settings(ctx)
	if err == nil && settings.Hides(view.Driver) {
		err = environment.NotFound("environment")
	}
	if err != nil {
		return environment.EnvironmentView{}, err
	}
	return view, nil
}

// named looks an environment up by name; false when there is none.
func (s *Service) named(ctx context.Context, name string) (environment.EnvironmentView, bool, error) {
	clean, problem := environment.CleanName(name)
	if problem != "" {
		return environment.EnvironmentView{}, false, nil
	}
	f := environment.ListFilter{Query: clean, Limit: maxListLimit}
	for {
		page, err := s.store.ListEnvironments(ctx, f)
		if err != nil {
			return environment.EnvironmentView{}, false, err
		}
		for _, v := range page.Items {
			if environment.NameKey(v.Name) == environment.NameKey(clean) {
				return v, true, nil
			}
		}
		if page.Next == "" {
			return environment.EnvironmentView{}, false, nil
		}
		f.Cursor = page.Next
	}
}

// Create makes an environment. Wrong fields are KindInvalid, all at once; a
// taken name is KindConflict with code name_taken, a second Local local_exists.
func (s *Service) Create(ctx context.Context, actor environment.Actor, d environment.Draft) (environment.Environment, error) {
	none := environment.Environment{}
	if err := access.May(actor, access.ManageEnvironment, access.Instance); err != nil {
		return none, err
	}
	if err := s.enabled(ctx); err != nil {
		return none, err
	}
	if err := mayMake(actor, d.NewSecrets); err != nil {
		return none, err
	}
	c, err := s.plan(ctx, nil, patchOf(d))
	if err != nil {
		return none, err
	}
	if err := c.refusal(); err != nil {
		return none, err
	}
	for attempt := 1; ; attempt++ {
		made, err := s.create(ctx, actor, c)
		if attempt == environment.KeyTurns || environment.CodeOf(err) != environment.CodeKeysetChanged {
			return made, err
		} // else once more, sealed with the key of now
	}
}

// create stores a plan without problems.
func (s *Service) create(ctx context.Context, actor environment.Actor, c *planned) (environment.Environment, error) {
	sealed, entries, err := c.seal(ctx, actor)
	if err != nil {
		return environment.Environment{}, err
	}
	details := map[string]any{"name": c.next.Name, "driver": c.next.Driver, "status": string(c.next.Status), "revision": c.next.Revision}
	if provider := c.next.Key().Provider; provider != "" {
		details["provider"] = provider
	}
	made, err := s.store.CreateEnvironment(ctx, Write{
		Environment: c.next, NewSecrets: sealed, Bindings: c.bindings, ConfigChanged: true, MoreActivity: entries,
		Activity: s.activity(ctx, actor, "environment.created", "environment", c.next.ID.String(), details),
	})
	if err != nil {
		return environment.Environment{}, atName(c.atSecret(err))
	}
	return made, nil
}

// EnsureLocal makes the Local row at start, when there is none, and returns it.
// With asDefault it also becomes a new instance's default.
func (s *Service) EnsureLocal(ctx context.Context, asDefault bool) (environment.Environment, error) {
	about := "The machine that Berth itself runs on."
	c, err := s.plan(ctx, nil, environment.Patch{
		Name: new("Local"), Description: &about, SetDescription: true, Driver: new(environment.DriverLocal),
	})
	if err != nil {
		return environment.Environment{}, err
	}
	if err := environment.InvalidFields(c.problems); err != nil {
		return environment.Environment{}, fmt.Errorf("make the local environment: %w", err)
	}
	return s.store.EnsureLocal(ctx, c.next, asDefault)
}

// Impact tells what deleting an environment would touch.
func (s *Service) Impact(ctx context.Context, actor environment.Actor, id uuid.UUID) (environment.Impact, error) {
	if err := access.May(actor, access.ManageEnvironment, access.Instance); err != nil {
		return environment.Impact{}, err
	}
	if _, err := s.environment(ctx, id); err != nil {
		return environment.Impact{}, err
	}
	return s.store.Impact(ctx, id)
}

// Delete removes an environment and its own secrets, and returns what was, with
// the row as it was last. What stands in the way is KindConflict with code
// environment_in_use and detail deleteBlockedReasons. ReassignTo must be another,
// active environment whose driver is there. The managed sandbox is KindConflict with
// code environment_managed while it is provisioned. KindStale is as with Update.
func (s *Service) Delete(ctx context.Context, actor environment.Actor, id uuid.UUID, o environment.DeleteOptions) (environment.EnvironmentView, error) {
	none := environment.EnvironmentView{}
	if err := access.May(actor, access.ManageEnvironment, access.Instance); err != nil {
		return none, err
	}
	if err := s.enabled(ctx); err != nil {
		return none, err
	}
	view, err := s.environment(ctx, id)
	if err != nil {
		return none, err
	}
	if o.IfRevision != nil && *o.IfRevision != view.Revision {
		return none, s.stale(ctx, view, *o.IfRevision)
	}
	if err := deleteRefusal(view); err != nil {
		return none, err
	}
	details := map[string]any{"name": view.Name, "driver": view.Driver}
	if o.ReassignTo != nil {
		if err := s.canTakeOver(ctx, id, *o.ReassignTo); err != nil {
			return none, err
		}
		details["reassignedTo"] = o.ReassignTo.String()
	}
	view.Environment, err = s.store.DeleteEnvironment(ctx, id, o, s.activity(ctx, actor, "environment.deleted", "environment", id.String(), details))
	return view, err
}

func (s *Service) canTakeOver(ctx context.Context, from, to uuid.UUID) error {
	refuse := func(code, message string) error {
		e := environment.Invalid(code, message)
		e.Fields = []environment.FieldError{{Field: "reassignTo", Message: message}}
		return e
	}
	if from == to {
		return refuse("validation_failed", "Choose another environment than the one that is deleted.")
	}
	target, err := s.environment(ctx, to)
	switch {
	case err != nil && environment.KindOf(err) == environment.KindNotFound:
		return refuse(environment.CodeEnvironmentNotFound, "There is no such environment to take over.")
	case err != nil:
		return err
	case target.Status != environment.StatusActive:
		return refuse(environment.CodeEnvironmentInactive, "“"+target.Name+"” is not active; choose another.")
	}
	if why := s.unusable(target.Environment); why != "" {
		return refuse(environment.CodeProviderUnavailable, why)
	}
	return nil
}
