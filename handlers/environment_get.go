package handlers

import (
	"net/http"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// environmentGet answers GET /api/environments/:id.
func (s *server) environmentGet(c echo.Context) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	return s.showEnvironment(c, http.StatusOK, id)
}

// showEnvironment answers with an environment as it is stored now.
func (s *server) showEnvironment(c echo.Context, status int, id uuid.UUID) error {
	view, err := s.Catalogue.Get(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return err
	}
	setETag(c, view.Revision)
	shape := environmentShape(view)
	if access.Whole(s.actor(c)) {
		shape.ConfigProblems = s.Catalogue.ConfigProblems(view.Environment)
	}
	return writeJSON(c, status, shape)
}

// showWritten answers a write with the row that it wrote, also when somebody
// has written a later one since. What stands beside the row is read again; if
// that fails the write has happened all the same, and is answered without.
func (s *server) showWritten(c echo.Context, status int, written environment.Environment) error {
	view, err := s.Catalogue.Get(c.Request().Context(), s.actor(c), written.ID)
	if err != nil {
		view = environment.EnvironmentView{}
	}
	view.Environment = written
	setETag(c, written.Revision)
	return writeJSON(c, status, environmentShape(view))
}
