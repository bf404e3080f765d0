package views

import (
	"time"

	"berth/environment"
)

// LinkPageState is how a one-time link stands.
type LinkPageState string

// The states of a one-time link.
const (
	LinkOpen    LinkPageState = "open"
	LinkInvalid LinkPageState = "invalid" // open, and what was typed was refused
	LinkUsed    LinkPageState = "used"
	LinkExpired LinkPageState = "expired"
	LinkUnknown LinkPageState = "unknown" // never made, or taken back
	LinkBusy    LinkPageState = "busy"
)

// LinkValues is what was typed; the password is never kept.
type LinkValues struct{ Email, Name string }

// LinkPageProps is a link's form, or why there is none.
type LinkPageProps struct {
	state   LinkPageState
	token   string
	link    environment.Link
	offers  []string
	values  LinkValues
	errors  map[string]string
	problem string
	now     time.Time
}

// NewLinkPage makes the form of an open link. companies name those that an
// invitation is to; failed is why what was typed was refused, nil for nothing.
func NewLinkPage(token string, link environment.Link, companies []environment.Company, v LinkValues, failed *environment.Error, now time.Time) LinkPageProps {
	p := LinkPageProps{state: LinkOpen, token: token, link: link, values: v, offers: offersOf(link, companies), errors: fieldErrors(failed), now: now}
	if failed == nil {
		return p
	}
	p.state = LinkInvalid
	if failed.Kind == environment.KindUnavailable || failed.Kind == environment.KindLimited {
		p.state = LinkBusy
	}
	if len(p.errors) == 0 {
		p.problem = sentence(failed)
	}
	return p
}

// NewDeadLink says why a link opens nothing.
func NewDeadLink(why *environment.Error) LinkPageProps {
	p := LinkPageProps{state: LinkUnknown}
	switch {
	case why.Details["why"] == "used", why.Code == "admin_exists":
		p.state = LinkUsed
	case why.Details["why"] == "expired":
		p.state = LinkExpired
	}
	return p
}

// offersOf says what an invitation gives.
func offersOf(link environment.Link, companies []environment.Company) []string {
	var offers []string
	if link.InstanceAdmin {
		offers = append(offers, "Instance admin: everything on this server")
	}
	for _, c := range companies {
		if role, is := link.Roles[c.ID]; is {
			offers = append(offers, roleWord(role)+" of "+c.Name)
		}
	}
	return offers
}

func (p LinkPageProps) dead() bool {
	return p.state == LinkUsed || p.state == LinkExpired || p.state == LinkUnknown
}

func (p LinkPageProps) title() string {
	switch {
	case p.state == LinkUsed:
		return "This link was used"
	case p.state == LinkExpired:
		return "This link has expired"
	case p.state == LinkUnknown:
		return "This link opens nothing"
	case p.link.Kind == environment.LinkFirstAdmin:
		return "Set up the first admin"
	case p.link.Kind == environment.LinkPassword:
		return "Set a new password"
	}
	return "Join Berth"
}

// Title is the title of the page.
func (p LinkPageProps) Title() string { return p.title() }

func (p LinkPageProps) button() string {
	switch p.link.Kind {
	case environment.LinkFirstAdmin:
		return "Create the admin and sign in"
	case environment.LinkPassword:
		return "Set the password and sign in"
	}
	return "Join and sign in"
}

// why says what became of a dead link, and what to do.
func (p LinkPageProps) why() string {
	switch p.state {
	case LinkUsed:
		return "Each link works once. If it was you, sign in with the password that you chose. If it was not, tell an instance admin at once."
	case LinkExpired:
		return "Links work for a limited time. Ask whoever sent it for a new one."
	}
	return "It may have been taken back, or copied only in part. Ask whoever sent it for a new one."
}

// sentence is a refusal with its remedy.
func sentence(e *environment.Error) string {
	if e.Remediation == "" {
		return e.Message
	}
	return e.Message + " " + e.Remediation
}
