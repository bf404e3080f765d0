package views

import (
	"strconv"
	"strings"

	"berth/environment"
	"berth/views/ui"
)

// TrustDialogState is what trusting would do.
type TrustDialogState string

// The states of the trust dialog.
const (
	TrustUnknown TrustDialogState = "unknown" // no key is trusted yet
	TrustReplace TrustDialogState = "replace" // another key is trusted
	TrustAlready TrustDialogState = "already" // what is presented is trusted
	TrustFailed  TrustDialogState = "failed"  // the host could not be asked
)

// TrustDialogProps offers to trust one of the keys that a host presents.
type TrustDialogProps struct {
	env       environment.Environment
	state     TrustDialogState
	address   string
	presented []environment.HostKey
	trusted   []environment.HostKey
	picked    string
	failure   string
	remedy    string
}

// NewTrustDialog makes the dialog. presented is what the host presented last,
// picked the fingerprint to be marked, failed why the last attempt was refused;
// nil for none.
func NewTrustDialog(e environment.Environment, presented []environment.HostKey, picked string, failed *environment.Error) TrustDialogProps {
	c := sshConfig(e)
	p := TrustDialogProps{env: e, state: TrustUnknown, address: c.Address(), presented: presented, picked: picked}
	if c.KnownHosts != nil {
		p.trusted = environment.KnownHostsPins(*c.KnownHosts, environment.KnownHostsName(c.Host, c.Port))
	}
	if failed != nil {
		p.failure, p.remedy = failed.Message, failed.Remediation
	}
	if p.picked == "" && len(presented) > 0 {
		p.picked = presented[0].Fingerprint
	}
	switch {
	case len(presented) == 0:
		p.state = TrustFailed
	case len(p.trusted) == 0:
	case overlap(presented, p.trusted):
		p.state = TrustAlready
	default:
		p.state = TrustReplace
	}
	return p
}

func overlap(a, b []environment.HostKey) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Fingerprint == y.Fingerprint || keyOf(x) == keyOf(y) {
				return true
			}
		}
	}
	return false
}

// keyOf is the key of a known_hosts line, without the names in front of it.
func keyOf(k environment.HostKey) string {
	fields := strings.Fields(k.KnownHostsLine)
	if len(fields) < 2 {
		return k.Fingerprint
	}
	return strings.Join(fields[1:], " ")
}

func (p TrustDialogProps) title() string {
	if p.state == TrustReplace {
		return "Replace the trusted key?"
	}
	return "Trust this host?"
}

func trustLabel(s TrustDialogState) string {
	if s == TrustReplace {
		return "Replace the trusted key"
	}
	return "Trust this key"
}

func trustKind(s TrustDialogState) ui.Kind {
	if s == TrustReplace {
		return ui.DangerFirst
	}
	return ui.Primary
}

func pickID(i int) string { return "pick-" + strconv.Itoa(i) }
