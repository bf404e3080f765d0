package environment

import "encoding/json"

// Names of sandbox providers.
const (
	ProviderDocker = "docker"
	ProviderFake   = "fake"
)

// DriverKey names an installed driver. Provider is "" but for the driver
// "sandbox", which there is one of for each provider.
type DriverKey struct{ Driver, Provider string }

// KeyOf returns the key of a driver and, where the driver has any, its provider.
func KeyOf(driver, provider string) DriverKey {
	if driver != DriverSandbox {
		provider = ""
	}
	return DriverKey{Driver: driver, Provider: provider}
}

// String returns "ssh", or "sandbox/docker".
func (k DriverKey) String() string {
	if k.Provider == "" {
		return k.Driver
	}
	return k.Driver + "/" + k.Provider
}

// keyOfConfig reads the provider out of a config.
func keyOfConfig(driver string, config json.RawMessage) DriverKey {
	if driver != DriverSandbox {
		return DriverKey{Driver: driver}
	}
	return DriverKey{Driver: driver, Provider: ProviderOf(config)}
}

// ProviderOf returns what a config names as its provider; "" for none.
func ProviderOf(config json.RawMessage) string {
	var c struct {
		Provider string `json:"provider"`
	}
	_ = json.Unmarshal(config, &c) // what cannot be read names none
	return c.Provider
}

// Key is the driver of an environment.
func (e Environment) Key() DriverKey { return keyOfConfig(e.Driver, e.Config) }

// Key is the driver of a spec.
func (s Spec) Key() DriverKey { return keyOfConfig(s.Driver, s.Config) }

// Key is the driver that made what a Ref holds.
func (r Ref) Key() DriverKey { return KeyOf(r.Driver, r.Provider) }

// Key is the driver of a lease.
func (l Lease) Key() DriverKey { return KeyOf(l.Driver, l.Provider) }
