package views

import (
	"time"

	"berth/environment"
)

// KeyListState is whether somebody has keys.
type KeyListState string

// The states of a list of keys.
const (
	KeyListFilled KeyListState = "filled"
	KeyListNone   KeyListState = "none"
)

// KeyListProps are the keys of an agent, or the API tokens of a person.
type KeyListProps struct {
	state  KeyListState
	keys   []environment.Key
	path   string // their own
	word   string // "key" or "token"
	values KeyValues
	errors map[string]string
	now    time.Time
}

// KeyValues is what was typed for a new key.
type KeyValues struct{ Name, LifeDays string }

// NewKeyValues are those of an empty form.
func NewKeyValues() KeyValues { return KeyValues{LifeDays: "90"} }

// NewAgentKeyList makes the keys of an agent, and the form of a new one.
func NewAgentKeyList(agent environment.Agent, keys []environment.Key, v KeyValues, failed *environment.Error, now time.Time) KeyListProps {
	return newKeyList(keys, AgentPath(agent.CompanyID, agent.ID)+"/keys", "key", v, failed, now)
}

// NewTokenList makes the tokens of whoever asks, and the form of a new one.
func NewTokenList(tokens []environment.Key, v KeyValues, failed *environment.Error, now time.Time) KeyListProps {
	return newKeyList(tokens, AccountPath+"/tokens", "token", v, failed, now)
}

func newKeyList(keys []environment.Key, path, word string, v KeyValues, failed *environment.Error, now time.Time) KeyListProps {
	p := KeyListProps{state: KeyListFilled, keys: keys, path: path, word: word, values: v, errors: fieldErrors(failed), now: now}
	if len(keys) == 0 {
		p.state = KeyListNone
	}
	return p
}

// NewestKey names the key of a list, newest first, that was made last; "" when
// there is none. The form of a new key sends it, so that a form that is sent
// twice is told from one for another key.
func NewestKey(keys []environment.Key) string {
	if len(keys) == 0 {
		return ""
	}
	return keys[0].ID.String()
}

func (p KeyListProps) title() string {
	if p.word == "token" {
		return "API tokens"
	}
	return "Keys"
}

func (p KeyListProps) note() string {
	if p.word == "token" {
		return "for programs that act as you: berth login, scripts"
	}
	return "with one of them the agent asks for runs, as itself and in this company only"
}

func (p KeyListProps) revokeText(k environment.Key) string {
	return "Whatever uses “" + k.Name + "” is refused from now on. This cannot be undone; a new " + p.word + " can be made."
}
