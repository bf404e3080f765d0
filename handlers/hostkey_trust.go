package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// hostKeyTrustBody names the key to pin.
type hostKeyTrustBody struct {
	Fingerprint string `json:"fingerprint"`
	Replace     bool   `json:"replace"`
}

// hostKeyTrust answers POST /api/environments/:id/trust-host-key: it scans
// again and pins the key that has the fingerprint.
func (s *server) hostKeyTrust(c echo.Context) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	var body hostKeyTrustBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	env, err := s.Catalogue.TrustHostKey(c.Request().Context(), s.actor(c), id, body.Fingerprint, body.Replace)
	if err != nil {
		return err
	}
	return s.showWritten(c, http.StatusOK, env)
}
