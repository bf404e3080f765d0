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
	AccessShown   AccessPageState = "shown"
	AccessNone    AccessPageState = "none"
	AccessRefused AccessPageState = "refused"
)

// AccessPageProps are the people of a company and what they are there.
type AccessPageProps struct {
	state   AccessPageState
	company environment.Company
	members []environment.Person
	others  []ui.Option
	failure string
}

// NewAccessPage makes the page, which is for instance admins. everybody are the
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

func (p AccessPageProps) role(m environment.Person) environment.Role { return m.Roles[p.company.ID] }
