package handlers

import (
	"berth/environment"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// linkURL is the address of a one-time link, which is the one place where a
// token may be in an address: under --public-url, else under the origin that
// the request came to.
func (s *server) linkURL(c echo.Context, token environment.Secret) string {
	origin := publicOrigin(s.PublicURL)
	if origin == "" {
		origin = originOf(c)
	}
	return origin + "/link/" + token.Reveal()
}

// madeLink is a new link with its address.
func (s *server) madeLink(c echo.Context, link environment.Link, token environment.Secret) api.MadeInvitation {
	return api.MadeInvitation{Invitation: invitationShape(link), URL: s.linkURL(c, token)}
}
