package views

import (
	"berth/environment"
	"berth/views/ui"

	"github.com/google/uuid"
)

// AccessPageState is how the people of a company stand.
type AccessPageState string

// The states of a company's access.
const (
	AccessShown    AccessPageState = "shown"
	AccessNone     AccessPageState = "none"
	AccessReadOnly AccessPageState = "read-only"
	AccessHidden   AccessPageState = "hidden" // whoever asks may not even see who
	AccessRefused  AccessPageState = "refused"
)

// AccessPageProps are the people of a company and what they are there.
type AccessPageProps struct {
	state   AccessPageState
	company environment.Company
	members []environment.Person
	others  []ui.Option
	failure string
	own     environment.Role
}

// NewAccessPage makes the page for those who may change it. everybody are the
// people of the instance; failed is why the last change was refused, nil for none.
func NewAccessPage(company environment.Company, members, everybody []environment.Person, failed *environment.Error) AccessPageProps {
	p := AccessPageProps{state: AccessShown, company: company, members: members}
	if len(members) == 0 {
		p.state = AccessNone
	}
	here := map[uuid.UUID]bool{}
	for _, m := range members {
		here[m.ID] = true
	}
	for _, o := range everybody {
		if !here[o.ID] && o.DisabledAt == nil {
			p.others = append(p.others, ui.Option{Value: o.ID.String(), Label: o.Name + " · " + o.Email})
		}
	}
	if failed != nil {
		p.state, p.failure = AccessRefused, sentence(failed)
	}
	return p
}

// NewAccessReadOnly makes the page for those who may only look; own is what they
// are in the company.
func NewAccessReadOnly(company environment.Company, members []environment.Person, own environment.Role) AccessPageProps {
	return AccessPageProps{state: AccessReadOnly, company: company, members: members, own: own}
}

// NewAccessHidden makes the page for those who may not see the others.
func NewAccessHidden(company environment.Company, own environment.Role) AccessPageProps {
	return AccessPageProps{state: AccessHidden, company: company, own: own}
}

func (p AccessPageProps) changeable() bool {
	return p.state != AccessReadOnly && p.state != AccessHidden
}

func (p AccessPageProps) role(m environment.Person) environment.Role { return m.Roles[p.company.ID] }
