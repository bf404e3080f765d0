package handlers

import (
	"context"
	"net/http"
	"time"

	"berth/environment"

	"github.com/labstack/echo/v4"
)

// health says that the process answers; it asks nobody.
func (s *server) health(c echo.Context) error {
	return writeJSON(c, http.StatusOK, map[string]string{"status": "ok", "version": s.Version})
}

// ready says whether the server can do its work: whether the database answers.
func (s *server) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), 2*time.Second)
	defer cancel()
	if err := s.Ping(ctx); err != nil {
		if environment.KindOf(err) == environment.KindUnavailable {
			return err
		}
		return environment.Unavailable("database_unavailable", "The database does not answer. Berth tries again by itself.").Because(err)
	}
	return writeJSON(c, http.StatusOK, map[string]string{"status": "ready", "version": s.Version})
}
