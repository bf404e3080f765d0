// Package preview lists every state of every component, each made by the
// constructor that production uses, from example values at a fixed time.
package preview

import (
	"strings"

	"github.com/a-h/templ"
)

// Capability ids, by which previews, tests and journeys are grouped.
const (
	Configuration = "execution-environments/configuration"
	Capabilities  = "execution-environments/capabilities"
	Probe         = "execution-environments/probe"
	Runs          = "execution-environments/runs"
	Images        = "execution-environments/images"
	Leases        = "execution-environments/leases"
	Instance      = "instance"
	People        = "people"
	Secrets       = "secrets"
	Record        = "activity"
)

// Groups lists the capability ids in order.
func Groups() []string {
	return []string{Configuration, Capabilities, Probe, Images, Runs, Leases, Instance, People, Secrets, Record}
}

// Preview is one state. Name is "component.state" or "component.state.variant".
type Preview struct {
	Name  string
	Group string
	Body  templ.Component
}

// Component is the first part of the name.
func (p Preview) Component() string {
	component, _, _ := strings.Cut(p.Name, ".")
	return component
}

// State is the second part.
func (p Preview) State() string {
	parts := strings.SplitN(p.Name, ".", 3)
	return parts[1]
}

// All lists every preview.
func All() []Preview {
	var all []Preview
	for _, list := range [][]Preview{rows(), lists(), forms(), dialogs(), pages(), capabilities(), probes(), runs(), instance(), signIns(), links(), accounts(), people(), agents(), pickers(), dotEnvs(), secretPages(), records(), sandboxForms(), sandboxPages(), sandboxProbes(), qualifications(), leases()} {
		all = append(all, list...)
	}
	return all
}

// Find returns the preview of a name.
func Find(name string) (Preview, bool) {
	for _, p := range All() {
		if p.Name == name {
			return p, true
		}
	}
	return Preview{}, false
}

func groupID(group string) string { return "group-" + strings.ReplaceAll(group, "/", "-") }

// hasHeading tells whether the component is a whole page, with its title.
func (p Preview) hasHeading() bool {
	switch p.Component() {
	case "leases-page", "secrets-page", "secret-page", "activity-page", "environments-page", "environment-page", "environment-form", "run-page", "general-settings", "experimental-settings",
		"companies-page", "error-page", "account-page", "people-page", "person-page", "access-page", "agents-page", "agent-page":
		return true
	}
	return p.IsOutside()
}

// IsOutside tells whether production shows it to those who are not signed in,
// without the navigation.
func (p Preview) IsOutside() bool { return p.Component() == "sign-in" || p.Component() == "link-page" }
