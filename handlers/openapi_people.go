package handlers

import "berth/handlers/api"

// peopleOperations are those of people, invitations and roles.
func peopleOperations() []operation {
	return []operation{
		{
			method: "GET", path: "/api/people", id: "listPeople", who: whoOperator,
			summary: "Everybody who signs in, by name", query: windowed(text("q", "part of the name or the address, without regard to case")), answers: []reply{listOf[api.Person]()},
		},
		{
			method: "GET", path: "/api/people/:id", id: "getPerson", who: whoOperator,
			summary: "One person", answers: []reply{ok[api.Person]()},
		},
		{
			method: "PATCH", path: "/api/people/:id", id: "updatePerson", who: whoOperator,
			summary: "Change a person", body: typed[api.PersonPatch](), answers: []reply{ok[api.Person]()}, fails: []int{409, 422},
		},
		{
			method: "POST", path: "/api/people/:id/sign-out", id: "signOutPerson", who: whoOperator,
			summary: "End a person's sessions", body: typed[api.SignOutPerson](), optionalBody: true, answers: []reply{ok[api.Ended]()},
		},
		{
			method: "POST", path: "/api/people/:id/password-link", id: "makePasswordLink", who: whoOperator,
			summary: "A one-time link for a new password", body: typed[struct{}](), optionalBody: true,
			answers: []reply{made[api.MadeInvitation]()}, fails: []int{409},
		},
		{
			method: "GET", path: "/api/invitations", id: "listInvitations", who: whoOperator,
			summary: "Open invitations", query: windowed(search()), answers: []reply{listOf[api.Invitation]()},
		},
		{
			method: "POST", path: "/api/invitations", id: "invite", who: whoOperator,
			summary: "Invite somebody; the link is in this one answer", body: typed[api.NewInvitation](),
			answers: []reply{made[api.MadeInvitation]()}, fails: []int{409, 422},
		},
		{
			method: "DELETE", path: "/api/invitations/:id", id: "revokeInvitation", who: whoOperator,
			summary: "Revoke an invitation", answers: []reply{nothing()},
		},
		{
			method: "GET", path: "/api/companies/:c/members", id: "listMembers", who: whoOperator,
			summary: "The people of a company", query: windowed(search()), answers: []reply{listOf[api.Person]()},
		},
		{
			method: "PUT", path: "/api/companies/:c/members/:id", id: "setMember", who: whoOperator,
			summary: "Give a person a role in a company", body: typed[api.SetRole](), answers: []reply{ok[api.Person]()}, fails: []int{422},
		},
		{
			method: "DELETE", path: "/api/companies/:c/members/:id", id: "removeMember", who: whoOperator,
			summary: "Take a person's role away", answers: []reply{nothing()},
		},
	}
}
