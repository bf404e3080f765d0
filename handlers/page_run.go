package handlers

import (
	"context"
	"net/http"

	"berth/environment"
	"berth/views"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// maxShownLog is how much of the end of a run's output its page shows, in bytes.
const maxShownLog = 256 << 10

// pageRun reads the run of an address; one of another company is not found.
func (s *server) pageRun(c echo.Context) (environment.Run, error) {
	company, err := pathID(c, "c", "company")
	if err != nil {
		return environment.Run{}, err
	}
	id, err := pathID(c, "id", "run")
	if err != nil {
		return environment.Run{}, err
	}
	run, err := s.Running.Get(c.Request().Context(), s.actor(c), id)
	if err == nil && run.CompanyID != company {
		return environment.Run{}, environment.NotFound("run")
	}
	return run, err
}

// runPage shows a run with the end of its output; a stream brings the rest.
func (s *server) runPage(c echo.Context) error {
	run, err := s.pageRun(c)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	log, err := s.shownLog(ctx, actor, run)
	if err != nil {
		return err
	}
	after := int64(0)
	if n := len(log.Chunks); n > 0 {
		after = log.Chunks[n-1].Seq
	}
	summary, err := s.runSummary(ctx, actor, run)
	if err != nil {
		return err
	}
	page := views.RunPage(views.NewRunPage(summary, views.NewRunOutput(run, log), after))
	return s.showGoing(c, views.RunTitle(run), views.SectionRuns, !run.Status.Ended(), page)
}

// shownLog is the end of a run's output as long as the row of the run says that
// it is, so that a stream from its last piece on brings every change after both.
func (s *server) shownLog(ctx context.Context, actor environment.Actor, run environment.Run) (environment.LogPage, error) {
	shown := min(run.LogSize, maxShownLog)
	if shown == 0 {
		return environment.LogPage{}, nil
	}
	return s.Running.Log(ctx, actor, run.ID, run.LogSize-shown, int(shown))
}

func (s *server) runSummary(ctx context.Context, actor environment.Actor, run environment.Run) (views.RunSummaryProps, error) {
	lease, err := s.leaseOf(ctx, actor, run)
	if err != nil {
		return views.RunSummaryProps{}, err
	}
	return views.NewRunSummary(run, lease, true, s.Now()), nil
}

// runStop asks a run to end.
func (s *server) runStop(c echo.Context) error {
	run, err := s.pageRun(c)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	if run, err = s.Running.Cancel(ctx, actor, run.ID); err != nil {
		return err
	}
	if !isFragment(c) {
		return redirect(c, views.RunPath(run.CompanyID, run.ID))
	}
	summary, err := s.runSummary(ctx, actor, run)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.RunChanged(summary))
}

// runFollow streams a run to its page: output as it arrives, and the summary
// with each change of state.
func (s *server) runFollow(c echo.Context) error {
	run, err := s.pageRun(c)
	if err != nil {
		return err
	}
	return s.serveEvents(c, s.runStream(run.ID, func(ctx context.Context, actor environment.Actor, e environment.Event, output string) ([]message, error) {
		if e.Chunk != nil {
			return fragments(ctx, environment.EventOutput, views.OutputPiece(views.NewPiece(e.Chunk.Stream, output)))
		}
		return s.runChange(ctx, actor, run.ID, e.Kind)
	}))
}

func (s *server) runChange(ctx context.Context, actor environment.Actor, id uuid.UUID, kind environment.EventKind) ([]message, error) {
	run, err := s.Running.Get(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	summary, err := s.runSummary(ctx, actor, run)
	if err != nil {
		return nil, err
	}
	return fragments(ctx, kind, views.RunChanged(summary))
}

// runFiles shows a folder or a file of a run's workspace, read from the target.
func (s *server) runFiles(c echo.Context) error {
	run, err := s.pageRun(c)
	if err != nil {
		return err
	}
	path := c.QueryParam("path")
	if !isText(path, 4096) {
		return unreadableField("invalid_query", "path", "path is the path of a file or folder in the workspace.")
	}
	entry, err := s.Running.Files(c.Request().Context(), s.actor(c), run.ID, path)
	if err != nil && environment.KindOf(err) == environment.KindInternal {
		return err
	}
	entry.Path = path
	status := http.StatusOK
	if err != nil && !isFragment(c) {
		status = refusalOf(err).status
	}
	return s.showPart(c, status, "Files of "+views.RunTitle(run), views.SectionRuns, views.RunFiles(views.NewRunFiles(run, entry, environment.AsError(err))))
}
