package views

import (
	"time"

	"berth/environment"
)

// PersonPageState is how the page of a person stands.
type PersonPageState string

// The states of a person's page.
const (
	PersonActive   PersonPageState = "active"
	PersonDisabled PersonPageState = "disabled"
	PersonRefused  PersonPageState = "refused"   // the last change was
	PersonLinkMade PersonPageState = "link-made" // a link for a new password is shown, this once
)

// PersonPageProps is one person, as instance admins see them.
type PersonPageProps struct {
	state     PersonPageState
	person    environment.Person
	companies []environment.Company
	errors    map[string]string
	failure   string
	yourself  bool
	once      string
	now       time.Time
}

// NewPersonPage makes the page. person has what was typed, when failed says why
// it was refused; yourself tells that it is whoever asks.
func NewPersonPage(person environment.Person, companies []environment.Company, yourself bool, failed *environment.Error, now time.Time) PersonPageProps {
	p := PersonPageProps{state: PersonActive, person: person, companies: companies, errors: fieldErrors(failed), yourself: yourself, now: now}
	if person.DisabledAt != nil {
		p.state = PersonDisabled
	}
	if failed != nil {
		p.state = PersonRefused
		if len(p.errors) == 0 {
			p.failure = sentence(failed)
		}
	}
	return p
}

// WithLink shows a link for a new password that was just made: this once.
func (p PersonPageProps) WithLink(address string) PersonPageProps {
	p.state, p.once = PersonLinkMade, address
	return p
}

func (p PersonPageProps) path(more string) string { return PersonPath(p.person.ID) + more }
