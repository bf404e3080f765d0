package handlers

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// Limits of lists.
const (
	defaultLimit = 500
	maxLimit     = 1000
	maxQuery     = 200  // characters of ?q=
	maxCursor    = 1000 // characters of ?cursor=
)

// pathID reads an id out of the address.
func pathID(c echo.Context, param, what string) (uuid.UUID, error) {
	return idOf(what, c.Param(param))
}

func idOf(what, text string) (uuid.UUID, error) {
	id, err := environment.ParseID(what, text)
	if err != nil {
		return uuid.Nil, unreadable("invalid_id", "The %s id is not a UUID.", what)
	}
	return id, nil
}

// queryID reads an optional id out of the query; nil when it is absent or empty.
func queryID(c echo.Context, name, what string) (*uuid.UUID, error) {
	text := c.QueryParam(name)
	if text == "" {
		return nil, nil
	}
	id, err := idOf(what, text)
	if err != nil {
		return nil, err
	}
	return &id, nil
}

// window is the part of a list that was asked for.
type window struct {
	Limit  int
	Cursor string
	Query  string
}

// windowOf reads limit, cursor and q.
func windowOf(c echo.Context) (window, error) {
	w := window{Limit: defaultLimit, Cursor: c.QueryParam("cursor"), Query: strings.TrimSpace(c.QueryParam("q"))}
	if text := c.QueryParam("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxLimit {
			return w, unreadableField("invalid_query", "limit", "limit is a number from 1 to %d.", maxLimit)
		}
		w.Limit = n
	}
	if !isText(w.Cursor, maxCursor) {
		return w, unreadableField("invalid_cursor", "cursor", "The cursor is not one that Berth gave out.")
	}
	if !isText(w.Query, maxQuery) {
		return w, unreadableField("invalid_query", "q", "q is text of at most %d characters, without a NUL character.", maxQuery)
	}
	return w, nil
}

// isText reports whether the database can compare with text.
func isText(text string, most int) bool {
	return utf8.ValidString(text) && !strings.ContainsRune(text, 0) && utf8.RuneCountInString(text) <= most
}

// choice reads an optional word of the query that must be one of words.
func choice[T ~string](c echo.Context, name string, words ...T) (T, error) {
	value := T(c.QueryParam(name))
	if value == "" || slices.Contains(words, value) {
		return value, nil
	}
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return "", unreadableField("invalid_query", name, "%s is one of %s.", name, strings.Join(list, ", "))
}

// number reads an optional whole number of the query.
func number(c echo.Context, name string, otherwise, least, most int64) (int64, error) {
	text := c.QueryParam(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, unreadableField("invalid_query", name, "%s is a whole number from %d to %d.", name, least, most)
	}
	return n, nil
}

// flag reads an optional yes or no of the query.
func flag(c echo.Context, name string, otherwise bool) (bool, error) {
	text := c.QueryParam(name)
	if text == "" {
		return otherwise, nil
	}
	yes, err := strconv.ParseBool(text)
	if err != nil {
		return false, unreadableField("invalid_query", name, "%s is 1 or 0.", name)
	}
	return yes, nil
}

// linkNext names the next page of a list in the Link header.
func linkNext(c echo.Context, cursor string) {
	if link := nextLink(c.Request().URL, cursor); link != "" {
		c.Response().Header().Set("Link", link)
	}
}

// nextLink is the Link header of a page of a list; "" on the last page.
func nextLink(address *url.URL, cursor string) string {
	if cursor == "" {
		return ""
	}
	q := address.Query()
	q.Set("cursor", cursor)
	return "<" + address.EscapedPath() + "?" + q.Encode() + `>; rel="next"`
}
