package cli

import (
	"io"
	"net/http"
	"time"

	"berth/handlers/api"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

func (a *app) companyCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "company", Aliases: []string{"companies"}, Short: "Companies: list, create, members"}
	cmd.AddCommand(a.companyListCommand(), a.companyCreateCommand(), a.companyMembersCommand())
	group(cmd)
	return cmd
}

func (a *app) companyListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List companies",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			all, err := c.companies(cmd.Context())
			if err != nil {
				return err
			}
			return a.show(all, func(w io.Writer) {
				t := newTable(w, "NAME", "ID", "CREATED")
				for _, company := range all {
					t.row(company.Name, company.ID.String(), time.Time(company.CreatedAt).UTC().Format(time.RFC3339))
				}
				t.flush()
			})
		},
	}
}

func (a *app) companyCreateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "create NAME",
		Short: "Create a company",
		Args:  exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			var made api.Company
			body := map[string]string{"name": args[0]}
			if err := c.call(cmd.Context(), request{method: http.MethodPost, path: "/companies", body: body, into: &made}); err != nil {
				return err
			}
			return a.show(made, func(w io.Writer) {
				writef(w, "Created %s (%s).\n", printable(made.Name), made.ID)
			})
		},
	}
}

func (a *app) companyMembersCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "members",
		Short: "List the people of the company with their roles",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			company, err := a.companyID(cmd.Context(), c)
			if err != nil {
				return err
			}
			return each(a, cmd.Context(), "/companies/"+company.String()+"/members", func(w io.Writer, all []api.Person) {
				t := newTable(w, "NAME", "E-MAIL", "ROLE", "ID")
				for _, p := range all {
					t.row(p.Name, p.Email, roleIn(p, company), p.ID.String())
				}
				t.flush()
			})
		},
	}
}

func roleIn(p api.Person, company uuid.UUID) string {
	for _, m := range p.Memberships {
		if m.CompanyID == company {
			return m.Role
		}
	}
	return ""
}
