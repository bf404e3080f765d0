package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// environmentPatch answers PATCH /api/environments/:id. If-Match makes it
// refuse a revision that is no longer the current one.
func (s *server) environmentPatch(c echo.Context) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	revision, err := ifMatch(c)
	if err != nil {
		return err
	}
	var body environmentPatchBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	patch, err := body.patch()
	if err != nil {
		return err
	}
	if patch.NewSecrets, err = s.newSecrets(c, body.NewSecrets); err != nil {
		return err
	}
	env, err := s.Catalogue.Update(c.Request().Context(), s.actor(c), id, revision, patch)
	if err != nil {
		return err
	}
	return s.showWritten(c, http.StatusOK, env)
}
