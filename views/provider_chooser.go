package views

import (
	"cmp"
	"slices"
	"strings"

	"berth/environment"
	"berth/views/ui"
)

// ProviderCardState is whether and how far a sandbox provider can be used here.
type ProviderCardState string

// The states of a provider: the words of capabilities.
const (
	ProviderSupported      ProviderCardState = "supported"
	ProviderUnavailable    ProviderCardState = "unavailable"
	ProviderSetupLimited   ProviderCardState = "setup-limited"
	ProviderCaptureLimited ProviderCardState = "capture-limited"
)

// ProviderCardProps is one choice of where sandboxes are made.
type ProviderCardProps struct {
	state    ProviderCardState
	provider string
	name     string
	can      string // what it can do, in a few words
	cannot   string // why it cannot be used here, and what to do
	limit    string // what a sandbox of it cannot do
	chosen   bool
}

// NewProviderCard makes the choice of a provider; caps nil: it is not installed.
func NewProviderCard(provider string, caps *environment.Capabilities, chosen bool) ProviderCardProps {
	p := ProviderCardProps{provider: provider, name: providerName(provider), chosen: chosen}
	if caps == nil {
		p.state, p.name = ProviderUnavailable, providerName(provider)
		e := environment.NotInstalled(environment.KeyOf(environment.DriverSandbox, provider))
		p.cannot = strings.TrimSpace(e.Message + " Start a server that has it, or choose another provider.")
		return p
	}
	notice := NewCapabilityNotice(caps.Key(), caps)
	p.name, p.state, p.can = cmp.Or(caps.DisplayName, p.name), ProviderCardState(notice.state), abilitiesLine(notice)
	switch notice.state {
	case CapabilityUnavailable:
		p.cannot, p.can = caps.Unsupported, ""
	case CapabilitySetupLimited:
		p.limit = "No terminal set-up, no captured images."
	case CapabilityCaptureLimited:
		p.limit = "Set-up by hand, but no captured images."
	}
	return p
}

func (p ProviderCardProps) id() string { return ui.FieldID("config.provider." + p.provider) }

// disabled: one that cannot be used is not chosen anew, but what has it keeps it.
func (p ProviderCardProps) disabled() bool { return p.cannot != "" && !p.chosen }

func (p ProviderCardProps) pill() pill {
	switch p.state {
	case ProviderUnavailable:
		return pill{ui.Warn, "Not available here"}
	case ProviderSupported:
		return pill{ui.OK, "Everything"}
	}
	return pill{ui.Plain, "Ready to use"}
}

// abilitiesLine lists what is there.
func abilitiesLine(n CapabilityNoticeProps) string {
	var has []string
	for _, a := range n.can() {
		if a.has {
			has = append(has, lowerWord(a.name))
		}
	}
	line := strings.Join(has, ", ")
	if line == "" {
		return line
	}
	return strings.ToUpper(line[:1]) + line[1:]
}

// providerCards are the providers that there are, and the saved one even if it is
// gone.
func providerCards(f Form) []ProviderCardProps {
	if f.Values.Driver != environment.DriverSandbox {
		return nil
	}
	var cards []ProviderCardProps
	for i, c := range f.Capabilities {
		if c.Driver == environment.DriverSandbox {
			cards = append(cards, NewProviderCard(c.Provider, &f.Capabilities[i], c.Provider == f.Values.Provider))
		}
	}
	chosen := slices.ContainsFunc(cards, func(c ProviderCardProps) bool { return c.chosen })
	if !chosen && f.Values.Provider != "" {
		cards = append(cards, NewProviderCard(f.Values.Provider, nil, true))
	}
	return cards
}

// DefaultProvider is the first sandbox provider that can be used, else the first
// that there is, else Docker.
func DefaultProvider(all []environment.Capabilities) string {
	first := environment.ProviderDocker
	found := false
	for _, c := range all {
		if c.Driver != environment.DriverSandbox {
			continue
		}
		if c.Unsupported == "" {
			return c.Provider
		}
		if !found {
			first, found = c.Provider, true
		}
	}
	return first
}
