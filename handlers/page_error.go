package handlers

import (
	"html"

	"github.com/labstack/echo/v4"
)

// errorPage shows a refusal as a whole page.
func (s *server) errorPage(c echo.Context, r refusal) error {
	body := "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Berth</title></head><body><main>" +
		errorText(r) + "</main></body></html>"
	return c.HTML(r.status, body)
}

// errorFragment shows a refusal inside the page that htmx is on.
func (s *server) errorFragment(c echo.Context, r refusal) error {
	return c.HTML(r.status, errorText(r))
}

func errorText(r refusal) string {
	return `<div role="alert" data-state="error"><p>` + html.EscapeString(r.err.Message) + "</p><p>" +
		html.EscapeString(r.err.Remediation) + "</p></div>"
}
