package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// leaseRelease answers POST /api/environment-leases/:id/release.
func (s *server) leaseRelease(c echo.Context) error {
	id, err := pathID(c, "id", "lease")
	if err != nil {
		return err
	}
	var none struct{}
	if err := decodeOptionalBody(c, &none); err != nil {
		return err
	}
	lease, err := s.Leasing.Release(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, leaseShape(lease))
}
