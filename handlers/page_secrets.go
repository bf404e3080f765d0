package handlers

import (
	"net/http"
	"net/url"

	"berth/environment"
	"berth/environment/secrets"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// secretsPage shows a company's secrets and the form of a new one.
func (s *server) secretsPage(c echo.Context) error {
	return s.showSecrets(c, http.StatusOK, views.SecretValues{}, nil)
}

// secretsPost adds a secret.
func (s *server) secretsPost(c echo.Context) error {
	company, err := pathID(c, "c", "company")
	if err != nil {
		return err
	}
	f, err := form(c)
	if err != nil {
		return err
	}
	values := views.SecretValues{Name: f.Get("name"), Description: f.Get("description")}
	value, err := s.typedValue(f)
	if err == nil {
		_, err = s.Secrets.Create(c.Request().Context(), s.actor(c), company,
			secrets.New{Name: values.Name, Description: given(values.Description), Value: value})
	}
	if err == nil {
		return redirect(c, done(views.SecretsPath(company), views.NoticeSecretCreated))
	}
	if !isRefusedForm(err) {
		return err
	}
	values.Sealed = s.sealed(value)
	return s.showSecrets(c, http.StatusUnprocessableEntity, values, atName(err))
}

func (s *server) showSecrets(c echo.Context, status int, values views.SecretValues, failed *environment.Error) error {
	id, err := pathID(c, "c", "company")
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	company, err := s.Catalogue.Company(ctx, actor, id)
	if err != nil {
		return err
	}
	all, err := s.Secrets.List(ctx, actor, id, "", environment.MaxCompanySecrets, "")
	if err != nil {
		return err
	}
	page := views.NewSecretsPage(company, all.Items, values, failed, s.Now())
	return s.show(c, status, "Secrets", views.SectionSecrets, views.SecretsPage(page))
}

// typedValue is the value of a secret: as typed, else as typed before.
func (s *server) typedValue(f url.Values) (environment.Secret, error) {
	value := secretOf(f, "value")
	if sealed := f.Get("value.held"); sealed != "" && value.Empty() {
		return s.newKeys.open(sealed, "value")
	}
	return environment.NewSecret(lines(value.Reveal())), nil
}

// sealed stands for a value that was typed; "" for none.
func (s *server) sealed(value environment.Secret) string {
	if value.Empty() {
		return ""
	}
	return s.newKeys.seal(value)
}

// atName puts a refusal of a name at its field.
func atName(err error) *environment.Error {
	e := environment.AsError(err)
	if e.Code != environment.CodeNameTaken || len(e.Fields) > 0 {
		return e
	}
	placed := *e
	placed.Fields = []environment.FieldError{{Field: "name", Message: e.Message}}
	return &placed
}
