package views

import (
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// AccountPageState is how one's own page stands.
type AccountPageState string

// The states of the account.
const (
	AccountShown     AccountPageState = "shown"
	AccountInvalid   AccountPageState = "invalid"
	AccountTokenMade AccountPageState = "token-made"
)

// AccountPageProps is one's own name, password, sessions and tokens.
type AccountPageProps struct {
	state    AccountPageState
	person   environment.Person
	rights   string
	name     string
	errors   map[string]string
	failure  string
	sessions []environment.Session
	current  uuid.UUID
	tokens   KeyListProps
	once     string // a new token's text
	now      time.Time
}

// AccountView is what the page is made of.
type AccountView struct {
	Person    environment.Person
	Companies []environment.Company
	Sessions  []environment.Session
	Current   uuid.UUID // the session that looks; zero for none
	Tokens    []environment.Key
}

// NewAccountPage makes the page. failed is why the last change was refused; nil
// for none. name and v are what was typed for it.
func NewAccountPage(a AccountView, name string, v KeyValues, failed *environment.Error, now time.Time) AccountPageProps {
	p := AccountPageProps{state: AccountShown, person: a.Person, rights: rolesText(a.Person, a.Companies), name: name, errors: fieldErrors(failed),
		sessions: a.Sessions, current: a.Current, tokens: NewTokenList(a.Tokens, v, failed, now), now: now}
	if failed != nil {
		p.state = AccountInvalid
		if len(p.errors) == 0 {
			p.failure = sentence(failed)
		}
	}
	return p
}

// WithToken shows the text of a token that was just made: this once.
func (p AccountPageProps) WithToken(text string) AccountPageProps {
	p.state, p.once = AccountTokenMade, text
	return p
}

func (p AccountPageProps) mayDo() string {
	switch {
	case p.person.InstanceAdmin && p.rights != "":
		return "Instance admin · " + p.rights
	case p.person.InstanceAdmin:
		return "Instance admin"
	case p.rights == "":
		return "Nothing yet: an instance admin gives roles in companies."
	}
	return p.rights
}
