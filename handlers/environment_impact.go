package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// environmentImpact answers GET /api/environments/:id/delete-blast-radius.
func (s *server) environmentImpact(c echo.Context) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	impact, err := s.Catalogue.Impact(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, blastRadiusShape(impact))
}
