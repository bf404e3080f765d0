package handlers

import (
	"net/http"

	"berth/environment/running"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// runStart answers POST /api/companies/:c/runs: 201 at once, with the run in
// its first state.
func (s *server) runStart(c echo.Context) error {
	company, err := pathID(c, "c", "company")
	if err != nil {
		return err
	}
	var body api.StartRun
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	in := running.Input{
		CompanyID: company, EnvironmentID: body.EnvironmentID, Command: body.Command, Title: body.Title,
		Cwd: body.Cwd, Env: body.Env, TimeoutSec: body.TimeoutSec,
	}
	in.Native = body.Native != nil && *body.Native
	if body.Stdin != nil {
		in.Stdin = []byte(*body.Stdin)
	}
	run, err := s.Running.Start(c.Request().Context(), s.actor(c), in)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Location", "/api/runs/"+run.ID.String())
	return writeJSON(c, http.StatusCreated, runShape(run, nil))
}

// runCancel answers POST /api/runs/:id/cancel: 202 with the run as it is.
func (s *server) runCancel(c echo.Context) error {
	id, err := pathID(c, "id", "run")
	if err != nil {
		return err
	}
	var none struct{}
	if err := decodeOptionalBody(c, &none); err != nil {
		return err
	}
	run, err := s.Running.Cancel(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return err
	}
	lease, err := s.leaseOf(c.Request().Context(), s.actor(c), run)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusAccepted, runShape(run, lease))
}
