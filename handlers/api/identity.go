package api

import "github.com/google/uuid"

// SignIn is the body of POST /api/auth/sign-in.
type SignIn struct {
	Email    string `json:"email"`
	Password string `json:"password"`
}

// SignInForToken is the body of POST /api/auth/token.
type SignInForToken struct {
	Email    string `json:"email"`
	Password string `json:"password"`
	Name     string `json:"name"` // of the token: "laptop"
}

// Me answers GET /api/cli-auth/me: who asks, and what the instance offers.
type Me struct {
	// User is null for the local operator and for agents.
	User            *Person      `json:"user"`
	Agent           *Agent       `json:"agent"`
	UserID          *uuid.UUID   `json:"userId"`
	ActorType       string       `json:"actorType"` // "local_operator", "person", "agent"
	IsInstanceAdmin bool         `json:"isInstanceAdmin"`
	CompanyIDs      []uuid.UUID  `json:"companyIds"`
	Source          string       `json:"source"` // "local_implicit", "session", "token", "agent_key"
	KeyID           *uuid.UUID   `json:"keyId"`
	Capabilities    MeCapability `json:"capabilities"`
}

// MeCapability is Paperclip's shape.
type MeCapability struct {
	Features Features `json:"features"`
}

// Features are the flags that everybody may know.
type Features struct {
	EnableEnvironments   bool       `json:"enableEnvironments"`
	ExecutionMode        string     `json:"executionMode"` // "any"
	DefaultEnvironmentID *uuid.UUID `json:"defaultEnvironmentId"`
}

// Person is somebody who signs in.
type Person struct {
	ID              uuid.UUID    `json:"id"`
	Email           string       `json:"email"`
	Name            string       `json:"name"`
	IsInstanceAdmin bool         `json:"isInstanceAdmin"`
	Disabled        bool         `json:"disabled"`
	Memberships     []Membership `json:"memberships"`
	LastSeenAt      *Time        `json:"lastSeenAt"`
	CreatedAt       Time         `json:"createdAt"`
	UpdatedAt       Time         `json:"updatedAt"`
}

// Membership is a role in a company.
type Membership struct {
	CompanyID uuid.UUID `json:"companyId"`
	Role      string    `json:"role"` // "owner", "admin", "member"
}

// PersonPatch is the body of PATCH /api/people/:id.
type PersonPatch struct {
	Name            *string `json:"name,omitempty"`
	Email           *string `json:"email,omitempty"`
	IsInstanceAdmin *bool   `json:"isInstanceAdmin,omitempty"`
	Disabled        *bool   `json:"disabled,omitempty"`
}

// Account answers GET /api/account.
type Account struct {
	Person   Person    `json:"person"`
	Sessions []Session `json:"sessions"`
	Tokens   []Key     `json:"tokens"`
}

// AccountPatch is the body of PATCH /api/account.
type AccountPatch struct {
	Name *string `json:"name,omitempty"`
}

// ChangePassword is the body of POST /api/account/password.
type ChangePassword struct {
	CurrentPassword string `json:"currentPassword"`
	NewPassword     string `json:"newPassword"`
}

// Session is one browser in which somebody is signed in.
type Session struct {
	ID         uuid.UUID `json:"id"`
	Current    bool      `json:"current"`
	Address    string    `json:"address"`
	UserAgent  string    `json:"userAgent"`
	CreatedAt  Time      `json:"createdAt"`
	LastSeenAt Time      `json:"lastSeenAt"`
}

// Ended says how many sessions were ended.
type Ended struct {
	Ended int `json:"ended"`
}

// SignOutPerson is the body of POST /api/people/:id/sign-out.
type SignOutPerson struct {
	Tokens *bool `json:"tokens,omitempty"` // revoke every token too
}

// NewKey is the body of POST /api/account/tokens and /api/agents/:id/keys.
type NewKey struct {
	Name     string `json:"name"`
	LifeDays *int   `json:"lifeDays,omitempty"` // absent or 0: never expires
}

// Key is a bearer credential without its text.
type Key struct {
	ID         uuid.UUID `json:"id"`
	Name       string    `json:"name"`
	Hint       string    `json:"hint"` // its last four characters
	CreatedAt  Time      `json:"createdAt"`
	CreatedBy  string    `json:"createdBy"`
	LastUsedAt *Time     `json:"lastUsedAt"`
	ExpiresAt  *Time     `json:"expiresAt"`
	RevokedAt  *Time     `json:"revokedAt"`
}

// MadeKey is a new key. Its text is nowhere but here.
type MadeKey struct {
	Key
	Token string `json:"token"`
}

// NewInvitation is the body of POST /api/invitations.
type NewInvitation struct {
	Email           string       `json:"email"`
	IsInstanceAdmin *bool        `json:"isInstanceAdmin,omitempty"`
	Memberships     []Membership `json:"memberships,omitempty"`
}

// Invitation is an open one-time link, without its token.
type Invitation struct {
	ID              uuid.UUID    `json:"id"`
	Kind            string       `json:"kind"`
	Email           string       `json:"email"`
	IsInstanceAdmin bool         `json:"isInstanceAdmin"`
	Memberships     []Membership `json:"memberships"`
	CreatedBy       string       `json:"createdBy"`
	CreatedAt       Time         `json:"createdAt"`
	ExpiresAt       Time         `json:"expiresAt"`
}

// MadeInvitation is a new link. Its address is nowhere but here.
type MadeInvitation struct {
	Invitation
	URL string `json:"url"`
}

// SetRole is the body of PUT /api/companies/:c/members/:id.
type SetRole struct {
	Role string `json:"role"`
}

// Agent is Paperclip's, as far as Berth has it.
type Agent struct {
	ID                   uuid.UUID  `json:"id"`
	CompanyID            uuid.UUID  `json:"companyId"`
	Name                 string     `json:"name"`
	AdapterType          string     `json:"adapterType"`
	Status               string     `json:"status"` // "active", "disabled"
	DefaultEnvironmentID *uuid.UUID `json:"defaultEnvironmentId"`
	Keys                 []Key      `json:"keys,omitempty"` // of one agent only
	CreatedAt            Time       `json:"createdAt"`
	UpdatedAt            Time       `json:"updatedAt"`
}

// NewAgent is the body of POST /api/companies/:c/agents.
type NewAgent struct {
	Name                 string     `json:"name"`
	AdapterType          *string    `json:"adapterType,omitempty"` // "process" when absent
	DefaultEnvironmentID *uuid.UUID `json:"defaultEnvironmentId,omitempty"`
}
