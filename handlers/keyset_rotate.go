package handlers

import (
	"context"
	"net/http"

	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// keysetRotate answers POST /api/instance/rotate-key when the master key was turned
// over. The work goes on when the one who asked hangs up.
func (s *server) keysetRotate(c echo.Context) error {
	var none struct{}
	if err := decodeOptionalBody(c, &none); err != nil {
		return err
	}
	r, err := s.Secrets.RotateKey(context.WithoutCancel(c.Request().Context()), s.actor(c))
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, api.KeyRotation{From: r.From, To: r.To, Resealed: r.Resealed})
}
