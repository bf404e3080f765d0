package handlers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"berth/environment"

	"github.com/labstack/echo/v4"
)

// exportPage is how many entries of an export are in memory at once.
const exportPage = 500

// exportActivity answers with every entry that a filter lets through, as a file.
// It is read and sent page by page. What goes wrong on the way cuts the
// connection: an export that ends early must not look like a whole one.
func (s *server) exportActivity(c echo.Context, filter environment.ActivityFilter, format string) error {
	left := int64(1) << 62
	if c.QueryParam("limit") != "" {
		left = int64(filter.Limit)
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	next := func() ([]environment.Activity, bool, error) {
		filter.Limit = int(min(left, exportPage))
		page, err := s.Catalogue.Activity(ctx, actor, filter)
		left -= int64(len(page.Items))
		filter.Cursor = page.Next
		return page.Items, page.Next == "" || left <= 0, err
	}
	items, last, err := next()
	if err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="activity-%s.%s"`, s.Now().UTC().Format(time.DateOnly), format))
	h.Set("Content-Type", "application/json")
	if format == "csv" {
		h.Set("Content-Type", "text/csv; charset=utf-8")
	}
	c.Response().WriteHeader(http.StatusOK)
	if c.Request().Header.Get(headMark) != "" {
		return nil
	}
	out := newActivityWriter(format, newPacedWriter(c.Response()))
	for {
		for _, a := range items {
			if err := out.write(a); err != nil {
				return s.cutExport(c, err)
			}
		}
		if last {
			break
		}
		if actor, err = s.Identity.Again(ctx, actor); err != nil { // a long file outlives rights
			return s.cutExport(c, err)
		}
		if items, last, err = next(); err != nil {
			return s.cutExport(c, err)
		}
	}
	if err := out.end(); err != nil {
		return s.cutExport(c, err)
	}
	return nil
}

func (s *server) cutExport(c echo.Context, err error) error {
	if c.Request().Context().Err() == nil && !errors.Is(err, context.Canceled) {
		s.Log.Warn("export cut", "request", requestID(c), "route", routeOf(c), "err", err)
	}
	panic(http.ErrAbortHandler)
}

// activityWriter writes entries in one of the two formats.
type activityWriter interface {
	write(environment.Activity) error
	end() error
}

func newActivityWriter(format string, out io.Writer) activityWriter {
	if format == "csv" {
		return &activityCSV{rows: csv.NewWriter(out)}
	}
	return &activityJSON{out: bufio.NewWriterSize(out, 32<<10)}
}

// activityJSON writes one array.
type activityJSON struct {
	out   *bufio.Writer
	begun bool
}

func (w *activityJSON) write(a environment.Activity) error {
	body, err := marshal(activityShape(a))
	if err != nil {
		return fmt.Errorf("encode an entry of the log: %w", err)
	}
	separator := ",\n"
	if !w.begun {
		w.begun, separator = true, "[\n"
	}
	_, _ = w.out.WriteString(separator) // a bufio.Writer keeps its error for the next call
	_, err = w.out.Write(body)
	return err
}

func (w *activityJSON) end() error {
	closing := "\n]\n"
	if !w.begun {
		closing = "[]\n"
	}
	_, _ = w.out.WriteString(closing) // as above
	return w.out.Flush()
}

// activityCSV writes a table with a head.
type activityCSV struct {
	rows  *csv.Writer
	begun bool
}

func (w *activityCSV) write(a environment.Activity) error {
	if err := w.head(); err != nil {
		return err
	}
	details, err := marshal(mapOrEmpty(a.Details))
	if err != nil {
		return fmt.Errorf("encode an entry of the log: %w", err)
	}
	row := []string{
		a.CreatedAt.UTC().Format("2006-01-02T15:04:05.000Z"), string(a.ActorKind), environment.IDText(a.ActorID), a.ActorName, a.Action,
		a.EntityType, a.EntityID, environment.IDText(a.CompanyID), string(bytes.TrimSuffix(details, []byte("\n"))), a.RequestID, a.ID.String(),
	}
	for i, cell := range row {
		row[i] = harmless(cell)
	}
	return w.rows.Write(row)
}

func (w *activityCSV) head() error {
	if w.begun {
		return nil
	}
	w.begun = true
	return w.rows.Write([]string{"createdAt", "actorType", "actorId", "actorName", "action", "entityType", "entityId", "companyId",
		"details", "requestId", "id"})
}

func (w *activityCSV) end() error {
	if err := w.head(); err != nil {
		return err
	}
	w.rows.Flush()
	return w.rows.Error()
}

// harmless keeps a spreadsheet from reading text as a formula: somebody's name
// may have been chosen to be one.
func harmless(cell string) string {
	if strings.ContainsAny(cell[:min(1, len(cell))], "=+-@\t\r\n") {
		return "'" + cell
	}
	return cell
}

// pacedWriter gives each write its time: a reader that stands still is let go.
type pacedWriter struct {
	w       io.Writer
	control *http.ResponseController
}

func newPacedWriter(w http.ResponseWriter) *pacedWriter {
	return &pacedWriter{w, http.NewResponseController(w)}
}

func (p *pacedWriter) Write(b []byte) (int, error) {
	if err := p.control.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, fmt.Errorf("set the write deadline: %w", err)
	}
	return p.w.Write(b)
}
