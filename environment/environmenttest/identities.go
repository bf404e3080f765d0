package environmenttest

import (
	"berth/environment"
	"berth/environment/identity"

	"github.com/google/uuid"
)

var _ identity.Store = (*Store)(nil)

// identities are the twin's tables of who somebody is.
type identities struct {
	people   map[uuid.UUID]*savedPerson
	sessions map[uuid.UUID]*savedSession
	keys     map[uuid.UUID]*savedKey
	links    map[uuid.UUID]*savedLink
	agents   map[uuid.UUID]*environment.Agent
	failures map[string]signInFailures
}

func newIdentities() identities {
	return identities{people: map[uuid.UUID]*savedPerson{}, sessions: map[uuid.UUID]*savedSession{}, keys: map[uuid.UUID]*savedKey{},
		links: map[uuid.UUID]*savedLink{}, agents: map[uuid.UUID]*environment.Agent{}, failures: map[string]signInFailures{}}
}
