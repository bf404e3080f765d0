package handlers

import (
	"maps"
	"net/http"
	"slices"

	"berth/environment"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// secretRefs answers GET /api/environments/:id/secret-refs: what an environment
// refers to, by path. No secret is opened.
func (s *server) secretRefs(c echo.Context) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	view, err := s.Catalogue.Get(ctx, actor, id)
	if err != nil {
		return err
	}
	refs, err := s.Catalogue.References(ctx, actor, view.Environment)
	if err != nil {
		return err
	}
	shapes := make([]api.SecretRef, 0, len(refs))
	for _, path := range slices.Sorted(maps.Keys(refs)) {
		shapes = append(shapes, secretRefShape(path, refs[path]))
	}
	return writeJSON(c, http.StatusOK, shapes)
}

func secretRefShape(path string, r environment.SecretReference) api.SecretRef {
	shape := api.SecretRef{ConfigPath: path, SecretID: r.Ref.SecretID, Version: r.Ref.Version, Missing: r.Missing()}
	if r.Secret == nil {
		return shape
	}
	shape.Owned, shape.CompanyID = r.Secret.CompanyID == nil, r.Secret.CompanyID
	shape.Name, shape.Disabled, shape.LatestVersion = r.Secret.Name, r.Secret.Disabled, r.Secret.LatestVersion
	return shape
}
