package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// environmentPinImage answers POST /api/environments/:id/pin-image: the image's tag
// becomes the digest that the last probe read for it.
func (s *server) environmentPinImage(c echo.Context) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	revision, err := ifMatch(c)
	if err != nil {
		return err
	}
	var none struct{}
	if err := decodeOptionalBody(c, &none); err != nil {
		return err
	}
	view, err := s.Catalogue.PinImage(c.Request().Context(), s.actor(c), id, revision)
	if err != nil {
		return err
	}
	setETag(c, view.Revision)
	return writeJSON(c, http.StatusOK, environmentShape(view))
}
