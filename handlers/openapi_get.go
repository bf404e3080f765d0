package handlers

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"
)

// openapiGet returns the handler of GET /api/openapi.json: the API's contract,
// made and encoded at the first request, or 304 to who has it.
func (s *server) openapiGet() echo.HandlerFunc {
	encoded := sync.OnceValues(func() ([]byte, error) { return json.Marshal(newDocument(s.Version, operations())) })
	return func(c echo.Context) error {
		body, err := encoded()
		if err != nil {
			return fmt.Errorf("encode the OpenAPI document: %w", err)
		}
		sum := sha256.Sum256(body)
		etag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
		c.Response().Header().Set("ETag", etag)
		c.Response().Header().Set("Cache-Control", "no-cache")
		if hasTag(c.Request().Header.Get("If-None-Match"), etag) {
			return c.NoContent(http.StatusNotModified)
		}
		return c.Blob(http.StatusOK, "application/json", body)
	}
}

// hasTag reports whether an If-None-Match header names a tag. Compression in
// between makes a tag weak, which changes nothing here.
func hasTag(header, etag string) bool {
	for given := range strings.SplitSeq(header, ",") {
		if given = strings.TrimPrefix(strings.TrimSpace(given), "W/"); given == etag || given == "*" {
			return true
		}
	}
	return false
}
