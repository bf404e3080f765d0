package handlers

import (
	"net/http"
	"net/url"

	"berth/environment"
	"berth/environment/secrets"
	"berth/views"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// accessesLimit is how many openings a secret's page shows.
const accessesLimit = 50

// secretPage shows a secret: what uses it, its versions, who opened it.
func (s *server) secretPage(c echo.Context) error { return s.showSecret(c, http.StatusOK, nil, nil) }

// secretPost renames, describes, disables or enables a secret.
func (s *server) secretPost(c echo.Context) error {
	row, f, err := s.secretForm(c)
	if err != nil {
		return err
	}
	var p secrets.Patch
	values := views.SecretValues{Name: f.Get("name"), Description: f.Get("description")}
	notice := views.NoticeSecretSaved
	if f.Has("disabled") {
		disabled := f.Get("disabled") == "yes"
		p.Disabled, notice = &disabled, views.NoticeSecretEnabled
		if disabled {
			notice = views.NoticeSecretDisabled
		}
	} else {
		p.Name, p.Description, p.SetDescription = &values.Name, given(values.Description), true
	}
	_, err = s.Secrets.Update(c.Request().Context(), s.actor(c), row.ID, p)
	if err == nil {
		return redirect(c, done(views.SecretPath(*row.CompanyID, row.ID), notice))
	}
	if !isRefusedForm(err) {
		return err
	}
	return s.showSecret(c, http.StatusUnprocessableEntity, &values, atName(err))
}

// secretRotatePost gives a secret a new value.
func (s *server) secretRotatePost(c echo.Context) error {
	row, f, err := s.secretForm(c)
	if err != nil {
		return err
	}
	value, err := s.typedValue(f)
	if err == nil {
		_, err = s.Secrets.Rotate(c.Request().Context(), s.actor(c), row.ID, value)
	}
	if err == nil {
		return redirect(c, done(views.SecretPath(*row.CompanyID, row.ID), views.NoticeSecretRotated))
	}
	if !isRefusedForm(err) {
		return err
	}
	values := views.SecretValues{Name: row.Name, Description: describe(row), Sealed: s.sealed(value)}
	return s.showSecret(c, http.StatusUnprocessableEntity, &values, environment.AsError(err))
}

func describe(row environment.StoredSecret) string {
	if row.Description == nil {
		return ""
	}
	return *row.Description
}

// secretForm reads what was posted to a secret's address.
func (s *server) secretForm(c echo.Context) (environment.StoredSecret, url.Values, error) {
	row, _, err := s.secretAt(c)
	if err != nil {
		return row, nil, err
	}
	f, err := form(c)
	return row, f, err
}

// secretAt is the secret of an address: of the company that the address names.
func (s *server) secretAt(c echo.Context) (environment.StoredSecret, secrets.Uses, error) {
	company, err := pathID(c, "c", "company")
	if err != nil {
		return environment.StoredSecret{}, secrets.Uses{}, err
	}
	id, err := pathID(c, "id", "secret")
	if err != nil {
		return environment.StoredSecret{}, secrets.Uses{}, err
	}
	row, uses, err := s.Secrets.Get(c.Request().Context(), s.actor(c), id)
	if err == nil && !ofCompany(row, company) {
		err = environment.NotFound("secret")
	}
	return row, uses, err
}

func ofCompany(row environment.StoredSecret, company uuid.UUID) bool {
	return row.CompanyID != nil && *row.CompanyID == company
}

func (s *server) showSecret(c echo.Context, status int, values *views.SecretValues, failed *environment.Error) error {
	row, uses, err := s.secretAt(c)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	d := views.SecretDetail{Secret: row, Versions: uses.Versions, Bindings: uses.Bindings, Values: values, Failed: failed}
	if d.Company, err = s.Catalogue.Company(ctx, actor, *row.CompanyID); err != nil {
		return err
	}
	accesses, err := s.Secrets.Accesses(ctx, actor, row.ID, accessesLimit, c.QueryParam("cursor"))
	if err != nil {
		return err
	}
	d.Accesses = accesses.Items
	if accesses.Next != "" {
		d.Next = views.SecretPath(*row.CompanyID, row.ID) + "?cursor=" + url.QueryEscape(accesses.Next)
	}
	return s.show(c, status, row.Name, views.SectionSecrets, views.SecretPage(views.NewSecretPage(d, s.Now())))
}

// secretDeleteDialog asks whether a secret is to be deleted, or says why it
// cannot be.
func (s *server) secretDeleteDialog(c echo.Context) error {
	return s.showSecretDelete(c, http.StatusOK, nil)
}

// secretDeletePost deletes a secret.
func (s *server) secretDeletePost(c echo.Context) error {
	row, _, err := s.secretAt(c)
	if err != nil {
		return err
	}
	if err := s.Secrets.Delete(c.Request().Context(), s.actor(c), row.ID); err != nil {
		if environment.KindOf(err) != environment.KindConflict {
			return err
		}
		return s.showSecretDelete(c, http.StatusUnprocessableEntity, environment.AsError(err))
	}
	return redirect(c, done(views.SecretsPath(*row.CompanyID), views.NoticeSecretDeleted))
}

func (s *server) showSecretDelete(c echo.Context, status int, failed *environment.Error) error {
	row, uses, err := s.secretAt(c)
	if err != nil {
		return err
	}
	dialog := views.NewSecretDelete(row, uses.Bindings, failed)
	return s.showPart(c, status, "Delete "+row.Name, views.SectionSecrets, views.SecretDelete(dialog))
}
