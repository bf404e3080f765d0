package preview

import (
	"berth/environment"
	"berth/environment/example"
	"berth/views"

	"github.com/a-h/templ"
	"github.com/google/uuid"
)

// Stand-ins for what is shown once: previews hold no secret.
const (
	aToken = "berth_pat_this-is-a-preview-of-where-the-token-stands-0000x7Qa"
	aKey   = "berth_agent_this-is-a-preview-of-where-the-key-stands-0000Kd3v"
	aLink  = "https://berth.example/link/berth_link_this-is-a-preview-of-where-it-stands-0000"
)

func refusedField(field, message string) *environment.Error {
	return environment.AsError(environment.InvalidFields([]environment.FieldError{{Field: field, Message: message}}))
}

func lastAdmin() *environment.Error {
	return environment.Conflict("last_admin", "This is the last instance admin who can sign in.").Remedy("Make somebody else an instance admin first.")
}

func signIns() []Preview {
	form := func(ended bool, failed *environment.Error) templ.Component {
		return views.SignIn(views.NewSignIn("ada@example.com", views.Environments, ended, failed))
	}
	limited := environment.NewError(environment.KindLimited, "rate_limited", "That was wrong too often. Wait a little, then try again.").With("retryAfterSec", 32)
	often := environment.NewError(environment.KindLimited, "rate_limited", "That was asked for too often. Wait a little.").With("retryAfterSec", 2)
	wrong := environment.NewError(environment.KindUnauthenticated, "sign_in_failed", "The e-mail address or the password is wrong.")
	return []Preview{
		{"sign-in.shown", People, views.SignIn(views.NewSignIn("", views.Environments, false, nil))},
		{"sign-in.ended", People, form(true, nil)},
		{"sign-in.wrong", People, form(false, wrong)},
		{"sign-in.waiting", People, form(false, limited)},
		{"sign-in.limited", People, views.SignIn(views.NewSignInLimited("ada@example.com", views.Environments, often))},
		{"sign-in.busy", People, form(false, environment.Unavailable("busy", "Too many passwords are being checked at this moment. Try again."))},
		{"sign-in.not-needed", People, views.SignIn(views.NewSignInNotNeeded(views.Environments))},
	}
}

func links() []Preview {
	page := func(l environment.Link, v views.LinkValues, failed *environment.Error) templ.Component {
		return views.LinkPage(views.NewLinkPage("token", l, example.Companies(), v, failed, example.Now()))
	}
	dead := func(why string) templ.Component {
		return views.LinkPage(views.NewDeadLink(environment.Conflict("link_used", "It is not open.").With("why", why)))
	}
	typed := views.LinkValues{Email: "ada@example.com", Name: "Ada Lovelace"}
	return []Preview{
		{"link-page.open", People, page(example.Invitation(), views.LinkValues{}, nil)},
		{"link-page.open.first-admin", People, page(example.FirstAdminLink(), views.LinkValues{}, nil)},
		{"link-page.open.password", People, page(example.PasswordLink(), views.LinkValues{}, nil)},
		{"link-page.invalid", People, page(example.Invitation(), views.LinkValues{Name: "Dana"}, refusedField("password", "A password has at least 12 characters."))},
		{"link-page.busy", People, page(example.FirstAdminLink(), typed, environment.Unavailable("busy", "Too many passwords are being checked at this moment. Try again."))},
		{"link-page.used", People, dead("used")},
		{"link-page.expired", People, dead("expired")},
		{"link-page.unknown", People, views.LinkPage(views.NewDeadLink(environment.NotFound("link")))},
	}
}

func accounts() []Preview {
	view := views.AccountView{Person: example.Ada(), Companies: example.Companies(), Sessions: example.Sessions(), Current: example.Sessions()[0].ID, Tokens: example.Tokens()}
	page := func(failed *environment.Error) views.AccountPageProps {
		return views.NewAccountPage(view, example.Ada().Name, views.NewKeyValues(), failed, example.Now())
	}
	bare := views.AccountView{Person: environment.Person{ID: example.Ben().ID, Email: example.Ben().Email, Name: example.Ben().Name}, Sessions: example.Sessions()[:1], Current: example.Sessions()[0].ID}
	return []Preview{
		{"account-page.shown", People, views.AccountPage(page(nil))},
		{"account-page.shown.no-role", People, views.AccountPage(views.NewAccountPage(bare, example.Ben().Name, views.NewKeyValues(), nil, example.Now()))},
		{"account-page.invalid", People, views.AccountPage(page(refusedField("currentPassword", "This is not your password.")))},
		{"account-page.token-made", People, views.AccountPage(page(nil).WithToken(aToken))},
	}
}

func people() []Preview {
	view := views.PeopleView{People: example.People(), Links: []environment.Link{example.Invitation(), example.PasswordLink()}, Companies: example.Companies()}
	typed := views.InvitationValues{Email: "ben@example.com", Roles: map[uuid.UUID]environment.Role{example.Acme().ID: environment.RoleMember}}
	page := func(v views.InvitationValues, failed *environment.Error) views.PeoplePageProps {
		return views.NewPeoplePage(view, v, failed, example.Now())
	}
	taken := environment.Conflict("email_taken", "Somebody with this e-mail address is here already.")
	taken.Fields = []environment.FieldError{{Field: "email", Message: taken.Message}}
	person := func(p environment.Person, yourself bool, failed *environment.Error) views.PersonPageProps {
		return views.NewPersonPage(p, example.Companies(), yourself, failed, example.Now())
	}
	return []Preview{
		{"people-page.shown", People, views.PeoplePage(page(views.InvitationValues{}, nil))},
		{"people-page.none", People, views.PeoplePage(views.NewPeoplePage(views.PeopleView{Companies: example.Companies(), LocalTrusted: true}, views.InvitationValues{}, nil, example.Now()))},
		{"people-page.invalid", People, views.PeoplePage(page(typed, taken))},
		{"people-page.invited", People, views.PeoplePage(page(views.InvitationValues{}, nil).WithLink("dana@example.com", aLink))},
		{"person-page.active", People, views.PersonPage(person(example.Ben(), false, nil))},
		{"person-page.disabled", People, views.PersonPage(person(example.Cleo(), false, nil))},
		{"person-page.refused", People, views.PersonPage(person(example.Ada(), true, lastAdmin()))},
		{"person-page.link-made", People, views.PersonPage(person(example.Ben(), false, nil).WithLink(aLink))},
		{"access-page.shown", People, views.AccessPage(views.NewAccessPage(example.Acme(), example.People(), example.People(), nil))},
		{"access-page.none", People, views.AccessPage(views.NewAccessPage(example.Globex(), nil, example.People(), nil))},
		{"access-page.refused", People, views.AccessPage(views.NewAccessPage(example.Acme(), example.People()[:1], example.People(), environment.AsError(environment.Invalid("validation_failed", "A role is owner, admin or member."))))},
	}
}

func agents() []Preview {
	values := views.AgentValues{Name: "Reviewer", AdapterType: "process"}
	taken := environment.Conflict(environment.CodeNameTaken, "There is an agent of that name already.")
	taken.Fields = []environment.FieldError{{Field: "name", Message: taken.Message}}
	list := func(all []environment.Agent, v views.AgentValues, failed *environment.Error) templ.Component {
		return views.AgentsPage(views.NewAgentsPage(example.Acme(), all, example.Environments(), v, failed, example.Now()))
	}
	page := func(n int, keys []environment.Key, failed *environment.Error) views.AgentPageProps {
		agent := example.Agents()[n]
		view := views.AgentView{Company: example.Acme(), Agent: agent, Keys: keys, Environments: example.Environments(), Server: "https://berth.example"}
		return views.NewAgentPage(view, views.AgentValuesOf(agent), views.NewKeyValues(), failed, example.Now())
	}
	return []Preview{
		{"agents-page.shown", People, list(example.Agents(), views.AgentValues{}, nil)},
		{"agents-page.none", People, list(nil, views.AgentValues{}, nil)},
		{"agents-page.invalid", People, list(example.Agents(), values, taken)},
		{"agent-page.active", People, views.AgentPage(page(0, example.AgentKeys(), nil))},
		{"agent-page.disabled", People, views.AgentPage(page(1, nil, nil))},
		{"agent-page.invalid", People, views.AgentPage(page(0, example.AgentKeys(), refusedField("keyName", "Enter a name.")))},
		{"agent-page.key-made", People, views.AgentPage(page(0, example.AgentKeys(), nil).WithKey(aKey))},
		{"key-list.filled", People, views.KeyList(views.NewTokenList(example.Tokens(), views.NewKeyValues(), nil, example.Now()))},
		{"key-list.none", People, views.KeyList(views.NewTokenList(nil, views.NewKeyValues(), nil, example.Now()))},
	}
}
