package views

import (
	"strings"

	"berth/environment"
)

// KeyFactsState is what a pasted or new key turned out to be.
type KeyFactsState string

// The states of a key in the form.
const (
	KeyReadable   KeyFactsState = "readable"
	KeyWeak       KeyFactsState = "weak"
	KeyGenerated  KeyFactsState = "generated"
	KeyUnreadable KeyFactsState = "unreadable"
)

// KeyFactsProps is what may be shown of a key.
type KeyFactsProps struct {
	state   KeyFactsState
	facts   environment.KeyFacts
	sealed  string
	problem string
}

// NewKeyFacts shows a key that was pasted; failed is why it could not be read,
// nil when it could.
func NewKeyFacts(facts environment.KeyFacts, failed *environment.Error) KeyFactsProps {
	p := KeyFactsProps{state: KeyReadable, facts: facts}
	switch {
	case failed != nil:
		p.state, p.problem = KeyUnreadable, failed.Message
	case facts.Warning != "":
		p.state = KeyWeak
	}
	return p
}

// NewGeneratedKey shows a new pair. sealed stands for the private half in the
// form: only the server can open it.
func NewGeneratedKey(facts environment.KeyFacts, sealed string) KeyFactsProps {
	return KeyFactsProps{state: KeyGenerated, facts: facts, sealed: sealed}
}

// ScanResultState is what a scan found.
type ScanResultState string

// The states of a scan of host keys.
const (
	ScanFound  ScanResultState = "found"
	ScanFailed ScanResultState = "failed"
)

// ScanResultProps are the keys that a host presents.
type ScanResultProps struct {
	state   ScanResultState
	keys    []environment.HostKey
	problem string
	remedy  string
}

// NewScanResult makes it; failed is why the host could not be asked.
func NewScanResult(keys []environment.HostKey, failed *environment.Error) ScanResultProps {
	if failed != nil {
		return ScanResultProps{state: ScanFailed, problem: failed.Message, remedy: failed.Remediation}
	}
	return ScanResultProps{state: ScanFound, keys: keys}
}

// ClientConfigState is what was made of a pasted ssh config.
type ClientConfigState string

// The states of a pasted ssh config.
const (
	ClientConfigRead   ClientConfigState = "read"
	ClientConfigFailed ClientConfigState = "failed"
)

// ClientConfigProps are the fields that a pasted ssh config fills.
type ClientConfigProps struct {
	state   ClientConfigState
	fields  []clientField
	ignored string
	problem string
}

type clientField struct{ field, label, value string }

// NewClientConfig makes it; failed is why the text could not be read.
func NewClientConfig(config map[string]any, ignored []string, failed *environment.Error) ClientConfigProps {
	if failed != nil {
		return ClientConfigProps{state: ClientConfigFailed, problem: failed.Message}
	}
	p := ClientConfigProps{state: ClientConfigRead, ignored: strings.Join(ignored, ", ")}
	for _, known := range []clientField{{"config.host", "Host", "host"}, {"config.port", "Port", "port"},
		{"config.username", "User", "username"}, {"config.proxyJump", "Jump hosts", "proxyJump"}} {
		if v, ok := config[known.value]; ok {
			p.fields = append(p.fields, clientField{known.field, known.label, valueText(v)})
		}
	}
	return p
}
