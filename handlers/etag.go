package handlers

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

var strongTag = regexp.MustCompile(`^"([0-9]{1,9})"$`)

// setETag says the revision of what is answered.
func setETag(c echo.Context, revision int) {
	c.Response().Header().Set("ETag", `"`+strconv.Itoa(revision)+`"`)
}

// ifMatch reads the revision that the caller means to change; nil for any. A
// tag that Berth cannot have given out is a 400: answered as stale it would
// send the caller into a loop of reading again.
func ifMatch(c echo.Context) (*int, error) {
	values := c.Request().Header.Values("If-Match")
	if len(values) == 0 {
		return nil, nil
	}
	value := strings.TrimSpace(strings.Join(values, ","))
	if value == "*" {
		return nil, nil
	}
	m := strongTag.FindStringSubmatch(value)
	if m == nil {
		return nil, unreadable("invalid_if_match", `If-Match is one ETag as Berth gives it, such as "3", or *.`)
	}
	revision, err := strconv.Atoi(m[1])
	if err != nil {
		return nil, unreadable("invalid_if_match", "If-Match holds no revision.").Because(err)
	}
	return &revision, nil
}
