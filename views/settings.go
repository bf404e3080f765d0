package views

import (
	"strconv"

	"berth/environment"
	"berth/views/ui"
)

// SettingsState is how a settings form stands.
type SettingsState string

// The states of a settings form.
const (
	SettingsShown   SettingsState = "shown"
	SettingsInvalid SettingsState = "invalid"
)

func settingsState(failed *environment.Error) SettingsState {
	if failed != nil {
		return SettingsInvalid
	}
	return SettingsShown
}

// GeneralSettingsProps are the default environment and the limits.
type GeneralSettingsProps struct {
	state        SettingsState
	environments []ui.Option
	defaultID    string
	maxRun       string
	errors       map[string]string
	failure      string
}

// GeneralValues are the fields of the general settings, as typed.
type GeneralValues struct{ DefaultEnvironmentID, MaxRunTimeoutSec string }

// GeneralValuesOf are those of the saved settings.
func GeneralValuesOf(s environment.Settings) GeneralValues {
	v := GeneralValues{MaxRunTimeoutSec: strconv.Itoa(s.MaxRunTimeout)}
	if s.DefaultEnvironmentID != nil {
		v.DefaultEnvironmentID = s.DefaultEnvironmentID.String()
	}
	return v
}

// NewGeneralSettings makes the form. failed is why the last save was refused;
// nil for none.
func NewGeneralSettings(v GeneralValues, all []environment.EnvironmentView, failed *environment.Error) GeneralSettingsProps {
	p := GeneralSettingsProps{state: settingsState(failed), defaultID: v.DefaultEnvironmentID, maxRun: v.MaxRunTimeoutSec, errors: fieldErrors(failed)}
	p.environments = []ui.Option{{Label: "None: each run names its environment"}}
	for _, e := range all {
		if e.Status == environment.StatusActive || e.IsDefault {
			p.environments = append(p.environments, ui.Option{Value: e.ID.String(), Label: e.Name + " · " + driverName(e.Driver)})
		}
	}
	if failed != nil && len(p.errors) == 0 {
		p.failure = failed.Message
	}
	return p
}

// ExperimentalSettingsProps are the flags.
type ExperimentalSettingsProps struct {
	state    SettingsState
	settings environment.Settings
	failure  string
}

// NewExperimentalSettings makes the form.
func NewExperimentalSettings(s environment.Settings, failed *environment.Error) ExperimentalSettingsProps {
	p := ExperimentalSettingsProps{state: settingsState(failed), settings: s}
	if failed != nil {
		p.failure = failed.Message
	}
	return p
}

// CompaniesPageState is how the companies' page stands.
type CompaniesPageState string

// The states of the companies' page.
const (
	CompaniesShown   CompaniesPageState = "shown"
	CompaniesNone    CompaniesPageState = "none"
	CompaniesInvalid CompaniesPageState = "invalid"
	// CompaniesReadOnly is for those who may not make one.
	CompaniesReadOnly CompaniesPageState = "read-only"
)

// CompaniesPageProps are the companies and the form of a new one.
type CompaniesPageProps struct {
	state     CompaniesPageState
	companies []environment.Company
	name      string
	problem   string
}

// NewCompaniesPage makes the page. name is what was typed, failed why it was
// refused; nil for none.
func NewCompaniesPage(companies []environment.Company, mayManage bool, name string, failed *environment.Error) CompaniesPageProps {
	p := CompaniesPageProps{state: CompaniesShown, companies: companies, name: name}
	switch {
	case !mayManage:
		p.state = CompaniesReadOnly
	case len(companies) == 0:
		p.state = CompaniesNone
	}
	if failed != nil {
		p.state, p.problem = CompaniesInvalid, failed.Message
	}
	return p
}

// RunsPageProps is a company's runs with the form of a new one.
type RunsPageProps struct {
	company environment.Company
	form    RunFormProps
	list    RunListProps
}

// NewRunsPage makes the page.
func NewRunsPage(company environment.Company, form RunFormProps, list RunListProps) RunsPageProps {
	return RunsPageProps{company: company, form: form, list: list}
}
