package handlers

import (
	"net/http"

	"berth/environment"
	"berth/environment/secrets"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// secretCreate answers POST /api/companies/:c/secrets.
func (s *server) secretCreate(c echo.Context) error {
	company, err := pathID(c, "c", "company")
	if err != nil {
		return err
	}
	var body api.NewSecret
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	made, err := s.Secrets.Create(c.Request().Context(), s.actor(c), company, secrets.New{
		Name: body.Name, Description: body.Description, Value: environment.NewSecret(body.Value),
	})
	if err != nil {
		return err
	}
	c.Response().Header().Set("Location", "/api/secrets/"+made.ID.String())
	return writeJSON(c, http.StatusCreated, secretShape(made))
}
