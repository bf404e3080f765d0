package views

import (
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// PeoplePageState is how the page of people stands.
type PeoplePageState string

// The states of the people.
const (
	PeopleShown   PeoplePageState = "shown"
	PeopleNone    PeoplePageState = "none" // nobody is here yet
	PeopleInvalid PeoplePageState = "invalid"
	PeopleInvited PeoplePageState = "invited" // a link is shown, this once
)

// PeoplePageProps are the people, the open invitations and the form of a new one.
type PeoplePageProps struct {
	state     PeoplePageState
	view      PeopleView
	values    InvitationValues
	errors    map[string]string
	failure   string
	invited   string // whom the link is for
	once      string
	localOnly bool
	now       time.Time
}

// PeopleView is what the page is made of.
type PeopleView struct {
	People    []environment.Person
	More      string // the address of the rest, "" when this is all
	Links     []environment.Link
	Companies []environment.Company
	// LocalTrusted tells that nobody signs in on this server.
	LocalTrusted bool
}

// InvitationValues is what was typed for an invitation.
type InvitationValues struct {
	Email         string
	InstanceAdmin bool
	Roles         map[uuid.UUID]environment.Role
}

// NewPeoplePage makes the page. failed is why the last change was refused; nil
// for none.
func NewPeoplePage(view PeopleView, v InvitationValues, failed *environment.Error, now time.Time) PeoplePageProps {
	p := PeoplePageProps{state: PeopleShown, view: view, values: v, errors: fieldErrors(failed), localOnly: view.LocalTrusted, now: now}
	if len(view.People) == 0 {
		p.state = PeopleNone
	}
	if failed != nil {
		p.state = PeopleInvalid
		if len(p.errors) == 0 {
			p.failure = sentence(failed)
		}
	}
	return p
}

// WithLink shows the link of an invitation that was just made: this once.
func (p PeoplePageProps) WithLink(email, address string) PeoplePageProps {
	p.state, p.invited, p.once = PeopleInvited, email, address
	return p
}

// RoleField is the form's field of the role in a company.
func RoleField(company uuid.UUID) string { return "role." + company.String() }

// invitations are the open ones; links for passwords stand on their person's page.
func (p PeoplePageProps) invitations() []environment.Link {
	var open []environment.Link
	for _, l := range p.view.Links {
		if l.Kind == environment.LinkInvitation {
			open = append(open, l)
		}
	}
	return open
}
