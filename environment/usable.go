package environment

// Usable is nil when something new can be made with the driver of a key here;
// KindUnavailable with code provider_unavailable when it is not installed, or is
// but cannot be used: the message says why.
func Usable(drivers Drivers, key DriverKey) error {
	if _, ok := drivers.Driver(key); !ok {
		return NotInstalled(key)
	}
	for _, c := range drivers.Capabilities() {
		if c.Key() == key && c.Unsupported != "" {
			return Unavailable(CodeProviderUnavailable, c.Unsupported)
		}
	}
	return nil
}
