package handlers

import "berth/handlers/api"

// identityOperations are those of people, agents and their credentials.
func identityOperations() []operation {
	return append(append(signInOperations(), accountOperations()...), append(peopleOperations(), agentOperations()...)...)
}

func signInOperations() []operation {
	return []operation{
		{
			method: "POST", path: "/api/auth/sign-in", id: "signIn", who: whoAnybody, open: true,
			summary: "Begin a session; its cookie is in the answer", body: typed[api.SignIn](),
			answers: []reply{ok[api.Me]("Set-Cookie")}, fails: []int{409, 422},
		},
		{
			method: "POST", path: "/api/auth/sign-out", id: "signOut", who: whoPerson,
			summary: "End the session, or the token, of the request", body: typed[struct{}](), optionalBody: true, answers: []reply{nothing()},
		},
		{
			method: "POST", path: "/api/auth/token", id: "signInForToken", who: whoAnybody, open: true,
			summary: "A personal token for a password; its text is in this one answer", body: typed[api.SignInForToken](),
			answers: []reply{made[api.MadeKey]()}, fails: []int{409, 422},
		},
		{
			method: "GET", path: "/api/cli-auth/me", id: "getMe", who: whoSignedIn,
			summary: "Who asks, and what the instance offers", answers: []reply{ok[api.Me]()},
		},
	}
}

func accountOperations() []operation {
	return []operation{
		{
			method: "GET", path: "/api/account", id: "getAccount", who: whoPerson,
			summary: "One's own account, sessions and tokens", answers: []reply{ok[api.Account]()},
		},
		{
			method: "PATCH", path: "/api/account", id: "updateAccount", who: whoPerson,
			summary: "Change one's own name", body: typed[api.AccountPatch](), answers: []reply{ok[api.Person]()}, fails: []int{422},
		},
		{
			method: "POST", path: "/api/account/password", id: "changePassword", who: whoPerson,
			summary: "Change one's own password; ends the other sessions", body: typed[api.ChangePassword](),
			answers: []reply{nothing()}, fails: []int{422},
		},
		{
			method: "DELETE", path: "/api/account/sessions", id: "endSessions", who: whoPerson,
			summary: "Sign out everywhere", answers: []reply{ok[api.Ended]()},
		},
		{
			method: "DELETE", path: "/api/account/sessions/:id", id: "endSession", who: whoPerson,
			summary: "End one session", answers: []reply{nothing()},
		},
		{
			method: "POST", path: "/api/account/tokens", id: "createToken", who: whoPerson,
			summary: "A new personal token; its text is in this one answer", body: typed[api.NewKey](),
			answers: []reply{made[api.MadeKey]()}, fails: []int{409, 422},
		},
		{
			method: "DELETE", path: "/api/account/tokens/:id", id: "revokeToken", who: whoPerson,
			summary: "Revoke one of one's own tokens", answers: []reply{nothing()},
		},
	}
}

func agentOperations() []operation {
	return []operation{
		{
			method: "GET", path: "/api/companies/:c/agents", id: "listAgents", who: whoKeeper,
			summary: "The agents of a company", query: windowed(search()), answers: []reply{listOf[api.Agent]()},
		},
		{
			method: "POST", path: "/api/companies/:c/agents", id: "createAgent", who: whoKeeper,
			summary: "Create an agent", body: typed[api.NewAgent](), answers: []reply{made[api.Agent]("Location")}, fails: []int{409, 422},
		},
		{
			method: "GET", path: "/api/agents/:id", id: "getAgent", who: whoKeeper,
			summary: "One agent with its keys", answers: []reply{ok[api.Agent]()},
		},
		{
			method: "PATCH", path: "/api/agents/:id", id: "updateAgent", who: whoKeeper,
			summary: "Change an agent; null clears the default environment", body: typed[agentPatchBody](),
			answers: []reply{ok[api.Agent]()}, fails: []int{409, 422},
		},
		{
			method: "POST", path: "/api/agents/:id/keys", id: "createAgentKey", who: whoKeeper,
			summary: "A new key; its text is in this one answer", body: typed[api.NewKey](),
			answers: []reply{made[api.MadeKey]()}, fails: []int{409, 422},
		},
		{
			method: "DELETE", path: "/api/agents/:id/keys/:kid", id: "revokeAgentKey", who: whoKeeper,
			summary: "Revoke a key", answers: []reply{nothing()},
		},
	}
}
