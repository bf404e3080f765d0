package catalogue_test

import "berth/environment"

// Capabilities would clash with the method of the service that a bench embeds,
// so the registry is a type of its own.
type registry struct{ b *bench }

var _ environment.Drivers = registry{}

func (r registry) Driver(key environment.DriverKey) (environment.Driver, bool) {
	return r.b.driver(key.Driver)
}
func (r registry) Capabilities() []environment.Capabilities {
	return []environment.Capabilities{environment.CapabilitiesOf(fakeLocal{}, "Local"), environment.CapabilitiesOf(r.b.ssh, "SSH")}
}
