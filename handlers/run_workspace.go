package handlers

import (
	"net/http"
	"strconv"

	"berth/environment"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// runWorkspace answers GET /api/runs/:id/workspace?path=: a folder's list or a
// file's text; with ?raw=1 a file's bytes.
func (s *server) runWorkspace(c echo.Context) error {
	id, err := pathID(c, "id", "run")
	if err != nil {
		return err
	}
	raw, err := flag(c, "raw", false)
	if err != nil {
		return err
	}
	path := c.QueryParam("path")
	if !isText(path, 4096) {
		return unreadableField("invalid_query", "path", "path is the path of a file or folder in the workspace.")
	}
	entry, err := s.Running.Files(c.Request().Context(), s.actor(c), id, path)
	if err != nil {
		return err
	}
	if raw && !entry.IsDir {
		h := c.Response().Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Disposition", "attachment")
		h.Set("X-Berth-Size", strconv.FormatInt(entry.Size, 10))
		return c.Blob(http.StatusOK, "application/octet-stream", entry.Content)
	}
	return writeJSON(c, http.StatusOK, workspaceShape(entry))
}

func workspaceShape(entry environment.WorkspaceEntry) api.Workspace {
	answer := api.Workspace{Path: entry.Path, Type: "file", Entries: []api.FileInfo{}, Size: entry.Size, Truncated: entry.Cut}
	if entry.IsDir {
		answer.Type = "dir"
		answer.Entries = each(entry.Entries, func(f environment.FileInfo) api.FileInfo {
			return api.FileInfo{Name: f.Name, Path: f.Path, Type: f.Type, Size: f.Size, ModifiedAt: api.Time(f.ModTime)}
		})
		return answer
	}
	text := cleanText(entry.Content)
	answer.Text = &text
	return answer
}
