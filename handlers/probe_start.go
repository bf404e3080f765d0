package handlers

import (
	"context"
	"net/http"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// probeStart answers POST /api/environments/:id/probe with the result, 200
// whether good or bad. With ?wait=0 it answers 202 at once, with the probe as
// it has begun. The probe goes on when the caller goes away.
func (s *server) probeStart(c echo.Context) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	given, err := queryID(c, "companyId", "company")
	if err != nil {
		return err
	}
	var none struct{}
	if err := decodeOptionalBody(c, &none); err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	company, err := s.companyOfProbe(ctx, actor, id, given)
	if err != nil {
		return err
	}
	probe, err := s.Probing.Start(ctx, actor, id, company)
	if err != nil {
		return err
	}
	return s.answerProbe(c, probe)
}

// probeDraft answers POST /api/companies/:c/environments/probe-config as
// probeStart does, for values that are not saved.
func (s *server) probeDraft(c echo.Context) error {
	company, err := s.company(c)
	if err != nil {
		return err
	}
	var body draftBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	draft, err := body.draft()
	if err != nil {
		return err
	}
	if draft.NewSecrets, err = s.newSecrets(c, body.NewSecrets); err != nil {
		return err
	}
	probe, err := s.Probing.StartDraft(c.Request().Context(), s.actor(c), &company.ID, body.EnvironmentID, draft)
	if err != nil {
		return err
	}
	return s.answerProbe(c, probe)
}

// companyFor is the company that a probe is for: the given one, else the only
// one, else none.
func (s *server) companyFor(ctx context.Context, actor environment.Actor, given *uuid.UUID) (*uuid.UUID, error) {
	company, err := s.Catalogue.CompanyFor(ctx, actor, given, false)
	if err != nil || company == nil {
		return nil, err
	}
	return &company.ID, nil
}

// companyOfProbe is the company that a saved environment's probe is for: the given
// one, else the only one, else that whose secrets the environment uses. None does
// for targets of somebody's own; a sandbox is leased for a company, so that there it
// is KindInvalid with code company_required.
func (s *server) companyOfProbe(ctx context.Context, actor environment.Actor, id uuid.UUID, given *uuid.UUID) (*uuid.UUID, error) {
	company, err := s.companyFor(ctx, actor, given)
	if err != nil || company != nil {
		return company, err
	}
	view, err := s.Catalogue.Get(ctx, actor, id)
	if err != nil || view.Driver != environment.DriverSandbox {
		return nil, err
	}
	if company, err = s.Catalogue.CompanyOf(ctx, view.Environment, nil); err != nil || company != nil {
		return company, err
	}
	_, err = s.Catalogue.CompanyFor(ctx, actor, nil, true)
	return nil, err
}

func (s *server) answerProbe(c echo.Context, probe environment.Probe) error {
	wait, err := flag(c, "wait", true)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Location", "/api/probes/"+probe.ID.String())
	if !wait {
		return writeJSON(c, http.StatusAccepted, probeShape(probe))
	}
	ended, err := s.endOf(c, probe.ID)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, probeShape(ended))
}

// endOf waits for a probe to end, as long as the caller may know of it and the
// server does not stop.
func (s *server) endOf(c echo.Context, id uuid.UUID) (environment.Probe, error) {
	actor := s.actor(c)
	ctx, stop := s.whileAllowed(c.Request().Context(), actor, func(ctx context.Context, actor environment.Actor) error {
		_, err := s.Probing.Get(ctx, actor, id)
		return err
	})
	defer stop()
	ended, err := s.Probing.Wait(ctx, actor, id)
	if err == nil {
		return ended, nil
	}
	if refused := refusedMeanwhile(ctx); refused != nil {
		return environment.Probe{}, refused
	}
	if s.isStopping() {
		return environment.Probe{}, environment.Unavailable("server_stopping", "The server stops; read the probe when it is back.").
			With("probeId", id).Because(err)
	}
	return environment.Probe{}, err
}
