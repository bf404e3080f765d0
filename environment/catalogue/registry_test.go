package catalogue_test

import (
	"maps"
	"slices"

	"berth/environment"
)

// Capabilities would clash with the method of the service that a bench embeds,
// so the registry is a type of its own.
type registry struct{ b *bench }

var _ environment.Drivers = registry{}

func (r registry) Driver(key environment.DriverKey) (environment.Driver, bool) {
	if key.Driver == environment.DriverSandbox {
		o, installed := r.b.sandboxes[key.Provider]
		return o.Driver, installed
	}
	return r.b.driver(key.Driver)
}

func (r registry) Capabilities() []environment.Capabilities {
	all := []environment.Capabilities{environment.CapabilitiesOf(fakeLocal{}, "Local"), environment.CapabilitiesOf(r.b.ssh, "SSH")}
	for _, provider := range slices.Sorted(maps.Keys(r.b.sandboxes)) {
		all = append(all, r.b.sandboxes[provider].caps)
	}
	return all
}
