package handlers

import (
	"context"
	"strconv"
	"time"

	"berth/environment"
	"berth/environment/access"
	"berth/views"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// imagePin saves the digest that the last test read for the image's tag, unless
// somebody saved something in between.
func (s *server) imagePin(c echo.Context) error {
	id, err := pathID(c, "id", "environment")
	if err != nil {
		return err
	}
	f, err := form(c)
	if err != nil {
		return err
	}
	var revision *int
	if text := f.Get("revision"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return unreadableField("invalid_form", "revision", "The form does not say what it was made from. Load it again.")
		}
		revision = &n
	}
	if _, err := s.Catalogue.PinImage(c.Request().Context(), s.actor(c), id, revision); err != nil {
		return err
	}
	return redirect(c, views.TabPath(id, views.TabImage)+"&done="+string(views.NoticePinned))
}

// qualification is how a sandbox's platform stands for a company; nil for what is
// none, and for who does not see environments whole.
func (s *server) qualification(ctx context.Context, actor environment.Actor, env environment.Environment, companies []environment.Company, company *environment.Company) (*views.Qualification, error) {
	if env.Driver != environment.DriverSandbox || access.May(actor, access.SeeWhole, access.Instance) != nil {
		return nil, nil
	}
	picked := uuid.Nil
	if company != nil {
		picked = company.ID
	}
	view, err := s.Catalogue.Qualification(ctx, actor, env.ID, picked)
	if err != nil {
		return nil, err
	}
	q := &views.Qualification{Companies: companies, Company: company, Admission: view.Admission, Platform: view.Platform,
		RevokedFor: view.RevokedFor, RevokedBy: view.RevokedBy, RevokedAt: view.RevokedAt, Last: view.Last, Pin: view.Pin, Local: view.Local}
	if view.MeasuredAt != nil {
		at, err := time.Parse(time.RFC3339, *view.MeasuredAt)
		if err != nil {
			return nil, err
		}
		q.MeasuredAt = &at
	}
	return q, nil
}

// companyOf is the company of the query, else the picked one; nil for none. One
// that the reader may not know of is not found.
func companyOf(c echo.Context, companies []environment.Company) (*environment.Company, error) {
	id, err := queryID(c, "company", "company")
	if err != nil {
		return nil, err
	}
	if id == nil {
		return pickedCompany(c, companies), nil
	}
	return companyNamed(companies, *id)
}

func companyNamed(companies []environment.Company, id uuid.UUID) (*environment.Company, error) {
	for i, company := range companies {
		if company.ID == id {
			return &companies[i], nil
		}
	}
	return nil, environment.NotFound("company")
}
