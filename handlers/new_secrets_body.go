package handlers

import (
	"maps"
	"slices"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// newSecrets reads companies' secrets that a save makes in place. One that names no
// company is of the request's: of its address or query, else the only one there is.
func (s *server) newSecrets(c echo.Context, body map[string]api.InlineSecret) (map[string]environment.NewCompanySecret, error) {
	if len(body) == 0 {
		return nil, nil
	}
	made := make(map[string]environment.NewCompanySecret, len(body))
	for _, path := range slices.Sorted(maps.Keys(body)) {
		in := body[path]
		company := in.CompanyID
		if company == nil {
			id, err := s.companyOfRequest(c)
			if err != nil {
				return nil, err
			}
			company = &id
		}
		made[path] = environment.NewCompanySecret{CompanyID: *company, Name: in.Name, Value: environment.NewSecret(in.Value)}
	}
	return made, nil
}

// companyOfRequest is the company that a request means; KindInvalid with code
// company_required when it could be several.
func (s *server) companyOfRequest(c echo.Context) (uuid.UUID, error) {
	if c.Param("c") != "" {
		return pathID(c, "c", "company")
	}
	given, err := queryID(c, "companyId", "company")
	if err != nil {
		return uuid.Nil, err
	}
	company, err := s.Catalogue.CompanyFor(c.Request().Context(), s.actor(c), given, true)
	if err != nil {
		return uuid.Nil, err
	}
	return company.ID, nil
}
