package catalogue

import (
	"encoding/json"
	"slices"
	"strings"

	"berth/environment"
)

const providerKey = "provider"

// key finds which driver the plan is for: of the driver sandbox also the provider,
// which the config names. False when that is a problem, which is noted.
func (c *planned) key(p environment.Patch) (environment.DriverKey, bool) {
	if c.next.Driver != environment.DriverSandbox {
		return environment.KeyOf(c.next.Driver, ""), true
	}
	provider := ""
	if c.old != nil && c.old.Driver == c.next.Driver {
		provider = environment.ProviderOf(c.old.Config)
	} else if !c.s.hasSandboxes() {
		return environment.DriverKey{}, false // the field driver has its problem already
	}
	if raw, sent := p.Config[providerKey]; sent {
		provider = ""
		if !isNull(raw) && json.Unmarshal(raw, &provider) != nil {
			c.problem("config."+providerKey, "A provider is a name. "+c.chooseProvider())
			return environment.DriverKey{}, false
		}
		provider = strings.TrimSpace(provider)
	}
	if provider == "" {
		c.problem("config."+providerKey, c.chooseProvider())
		return environment.DriverKey{}, false
	}
	key := environment.KeyOf(c.next.Driver, provider)
	if c.old != nil && c.old.Key() == key {
		return key, true
	}
	return key, c.available(key)
}

// available notes why nothing new can be made with a provider.
func (c *planned) available(key environment.DriverKey) bool {
	if _, installed := c.s.drivers.Driver(key); !installed {
		c.problem("config."+providerKey, "The provider "+key.Provider+" is not installed on this server. "+c.chooseProvider())
		return false
	}
	if why := c.s.unsupported(key); why != "" {
		c.problem("config."+providerKey, why)
		return false
	}
	return true
}

// chooseProvider lists what can be chosen.
func (c *planned) chooseProvider() string {
	names := c.s.providers()
	if len(names) == 0 {
		return "No sandbox provider can be used on this server."
	}
	return "Choose a provider: " + strings.Join(names, ", ") + "."
}

// providers are those of sandboxes that can be chosen, by name.
func (s *Service) providers() []string {
	var names []string
	for _, caps := range s.drivers.Capabilities() {
		if caps.Driver == environment.DriverSandbox && caps.Unsupported == "" {
			names = append(names, caps.Provider)
		}
	}
	slices.Sort(names)
	return names
}

// unsupported says why nothing new can be made with a driver here; "" when it can.
func (s *Service) unsupported(key environment.DriverKey) string {
	for _, caps := range s.drivers.Capabilities() {
		if caps.Key() == key {
			return caps.Unsupported
		}
	}
	return ""
}

// hasSandboxes reports whether any provider of sandboxes is installed.
func (s *Service) hasSandboxes() bool {
	return slices.ContainsFunc(s.drivers.Capabilities(), func(c environment.Capabilities) bool {
		return c.Driver == environment.DriverSandbox
	})
}
