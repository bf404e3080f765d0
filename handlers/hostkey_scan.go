package handlers

import (
	"net/http"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// hostKeyScanBody names the server whose keys are wanted.
type hostKeyScanBody struct {
	Host          string     `json:"host"`
	Port          *int       `json:"port"`
	ProxyJump     *string    `json:"proxyJump"`
	EnvironmentID *uuid.UUID `json:"environmentId"` // whose login the jump hosts get
}

// hostKeyScan answers POST /api/environments/scan-host-key with the keys that a
// server presents. Nothing is trusted by it.
func (s *server) hostKeyScan(c echo.Context) error {
	var body hostKeyScanBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	port, jump := 22, ""
	if body.Port != nil {
		port = *body.Port
	}
	if body.ProxyJump != nil {
		jump = *body.ProxyJump
	}
	keys, err := s.Catalogue.ScanHostKeys(c.Request().Context(), s.actor(c), body.EnvironmentID, body.Host, port, jump)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, each(keys, func(k environment.HostKey) environment.HostKey { return k }))
}
