package views

import "berth/environment"

// Assets are the hashed addresses of the static files. Without SSE a page opens
// no stream: previews, whose subjects do not exist.
type Assets struct{ CSS, HTMX, SSE, App, Icon string }

// Section is where in the navigation a page stands.
type Section string

// The sections.
const (
	SectionNone         Section = ""
	SectionRuns         Section = "runs"
	SectionCompanies    Section = "companies"
	SectionGeneral      Section = "general"
	SectionEnvironments Section = "environments"
	SectionExperimental Section = "experimental"
)

// LayoutProps is the frame around every page.
type LayoutProps struct {
	title     string
	section   Section
	companies []environment.Company
	company   *environment.Company
	back      string
	assets    Assets
	notice    Notice
	refresh   bool
}

// NewLayout frames a page. company is the one that is picked, nil for none;
// back is the address of the page itself, to return to after picking another.
func NewLayout(title string, section Section, companies []environment.Company, company *environment.Company, back string, assets Assets) LayoutProps {
	return LayoutProps{title: title, section: section, companies: companies, company: company, back: back, assets: assets}
}

// WithNotice says in a corner what was done.
func (p LayoutProps) WithNotice(n Notice) LayoutProps {
	p.notice = n
	return p
}

// Refreshing has a browser without scripts load the page again while something
// goes on.
func (p LayoutProps) Refreshing(going bool) LayoutProps {
	p.refresh = going
	return p
}

func (p LayoutProps) runsPath() string {
	if p.company == nil {
		return CompaniesPath
	}
	return RunsPath(p.company.ID)
}

func (p LayoutProps) picked() string {
	if p.company == nil {
		return "Pick a company"
	}
	return p.company.Name
}

// Notice is what a page says after a change, named in ?done=.
type Notice string

// The notices.
const (
	NoticeCreated    Notice = "created"
	NoticeSaved      Notice = "saved"
	NoticeArchived   Notice = "archived"
	NoticeRestored   Notice = "restored"
	NoticeDeleted    Notice = "deleted"
	NoticeTrusted    Notice = "trusted"
	NoticeTestsBegun Notice = "tests-begun"
	NoticeSettings   Notice = "settings"
	NoticeCompany    Notice = "company"
)

// Text is the notice in words; "" for one that is not known.
func (n Notice) Text() string {
	switch n {
	case NoticeCreated:
		return "Environment created."
	case NoticeSaved:
		return "Environment saved."
	case NoticeArchived:
		return "Environment archived. It is not offered for work until it is restored."
	case NoticeRestored:
		return "Environment restored."
	case NoticeDeleted:
		return "Environment deleted. Its runs stay readable."
	case NoticeTrusted:
		return "Host key trusted. Test again to go on."
	case NoticeTestsBegun:
		return "Tests begun."
	case NoticeSettings:
		return "Settings saved."
	case NoticeCompany:
		return "Company created."
	}
	return ""
}
