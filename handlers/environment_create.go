package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// environmentCreate answers POST /api/companies/:c/environments.
func (s *server) environmentCreate(c echo.Context) error {
	if _, err := s.company(c); err != nil {
		return err
	}
	var body environmentBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	draft, err := body.draft()
	if err != nil {
		return err
	}
	if draft.NewSecrets, err = s.newSecrets(c, body.NewSecrets); err != nil {
		return err
	}
	env, err := s.Catalogue.Create(c.Request().Context(), s.actor(c), draft)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Location", "/api/environments/"+env.ID.String())
	return s.showWritten(c, http.StatusCreated, env)
}
