package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// list reads a list to its end, following the links to the next page. A query
// with a limit is satisfied by that many.
func list[T any](ctx context.Context, c *client, path string, query url.Values) ([]T, error) {
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil {
		limit = 0
	}
	next := path
	if len(query) > 0 {
		next += "?" + query.Encode()
	}
	all := []T{}
	for next != "" {
		page, link, err := page[T](ctx, c, next)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if limit > 0 && len(all) >= limit {
			return all[:limit], nil
		}
		next = nextPath(link)
	}
	return all, nil
}

func page[T any](ctx context.Context, c *client, path string) (items []T, link string, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	resp, err := c.send(ctx, request{method: http.MethodGet, path: path}, "application/json")
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(&items); err != nil {
		return nil, "", c.notBerth(err)
	}
	return items, resp.Header.Get("Link"), nil
}

// nextPath is the path below /api of the link to the next page, "" for none.
func nextPath(link string) string {
	for part := range strings.SplitSeq(link, ",") {
		target, rel, ok := strings.Cut(part, ";")
		if !ok || !strings.Contains(rel, `rel="next"`) {
			continue
		}
		u, err := url.Parse(strings.Trim(strings.TrimSpace(target), "<>"))
		if err != nil {
			return ""
		}
		return strings.TrimPrefix(u.RequestURI(), "/api")
	}
	return ""
}
