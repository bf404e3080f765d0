package handlers

import (
	"net/http"

	"berth/environment"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// deleteDialog says what deleting an environment would touch.
func (s *server) deleteDialog(c echo.Context) error { return s.showDelete(c, http.StatusOK, nil) }

// environmentRemove deletes it.
func (s *server) environmentRemove(c echo.Context) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	f, err := form(c)
	if err != nil {
		return err
	}
	var options environment.DeleteOptions
	if text := f.Get("reassignTo"); text != "" {
		to, err := idOf("environment", text)
		if err != nil {
			return err
		}
		options.ReassignTo = &to
	}
	if _, err := s.Catalogue.Delete(c.Request().Context(), s.actor(c), id, options); err != nil {
		if !isRefusedForm(err) {
			return err
		}
		return s.showDelete(c, http.StatusUnprocessableEntity, environment.AsError(err))
	}
	return redirect(c, done(views.Environments, views.NoticeDeleted))
}

func (s *server) showDelete(c echo.Context, status int, failed *environment.Error) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	v, err := s.Catalogue.Get(ctx, actor, id)
	if err != nil {
		return err
	}
	impact, err := s.Catalogue.Impact(ctx, actor, id)
	if err != nil {
		return err
	}
	others, err := s.Catalogue.List(ctx, actor, environment.ListFilter{Status: environment.StatusActive, Sort: "name"})
	if err != nil {
		return err
	}
	dialog := views.NewDeleteDialog(v.Environment, impact, others.Items, failed)
	return s.showPart(c, status, "Delete "+v.Name, views.SectionEnvironments, views.DeleteDialog(dialog))
}
