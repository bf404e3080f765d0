package views

import "berth/environment"

// Assets are the hashed addresses of the static files. Without SSE a page opens
// no stream: previews, whose subjects do not exist.
type Assets struct{ CSS, HTMX, SSE, App, Icon string }

// Section is where in the navigation a page stands.
type Section string

// The sections.
const (
	SectionNone             Section = ""
	SectionAccount          Section = "account"
	SectionRuns             Section = "runs"
	SectionAgents           Section = "agents"
	SectionSecrets          Section = "secrets"
	SectionAccess           Section = "access"
	SectionCompanyActivity  Section = "company-activity"
	SectionCompanies        Section = "companies"
	SectionGeneral          Section = "general"
	SectionEnvironments     Section = "environments"
	SectionLeases           Section = "leases"
	SectionExperimental     Section = "experimental"
	SectionPeople           Section = "people"
	SectionInstanceActivity Section = "instance-activity"
)

// LayoutProps is the frame around every page.
type LayoutProps struct {
	title     string
	section   Section
	companies []environment.Company
	company   *environment.Company
	nav       Nav
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

// WithNav says what the navigation offers; without it, it offers nothing.
func (p LayoutProps) WithNav(n Nav) LayoutProps {
	p.nav = n
	return p
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
	// NoticeTestsUnnamed is of tests of all, without those of sandboxes.
	NoticeTestsUnnamed Notice = "tests-unnamed"
	NoticeSettings     Notice = "settings"
	NoticeCompany      Notice = "company"
	NoticeAgentSaved   Notice = "agent-saved"
	// NoticeSessionsEnded is that of somebody else.
	NoticeSessionsEnded Notice = "sessions-ended"
	NoticeName          Notice = "name"

	NoticeSignedOut Notice = "signed-out"
	NoticeWelcome   Notice = "welcome"
	NoticePassword  Notice = "password"
	NoticeEnded     Notice = "ended"
	NoticeRevoked   Notice = "revoked"
	NoticeRole      Notice = "role"
	NoticeAgent     Notice = "agent"
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
	case NoticeTestsUnnamed:
		return "Tests begun, but for sandboxes: pick a company that they are tested for."
	case NoticeSettings:
		return "Settings saved."
	case NoticeCompany:
		return "Company created."
	}
	return n.ofPeople()
}

// ofPeople is Text for what concerns people, roles and keys.
func (n Notice) ofPeople() string {
	switch n {
	case NoticeSignedOut:
		return "Signed out."
	case NoticeWelcome:
		return "Welcome. You are signed in."
	case NoticePassword:
		return "Password changed. Every other session was ended."
	case NoticeEnded:
		return "Session ended."
	case NoticeSessionsEnded:
		return "Signed out everywhere. Open pages go to the sign-in within seconds."
	case NoticeName:
		return "Name saved."
	case NoticeAgentSaved:
		return "Agent saved."
	case NoticeRevoked:
		return "Revoked. It counts no more."
	case NoticeRole:
		return "Role saved. It counts from now on."
	case NoticeAgent:
		return "Agent created. Make a key for it next."
	}
	return n.ofSecrets()
}
