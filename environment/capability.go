package environment

// Capabilities is what a driver can do, as data. Reading it never touches a
// target.
type Capabilities struct {
	Driver      string `json:"driver"`
	DisplayName string `json:"displayName"`
	Configure   bool   `json:"configure"`
	Probe       bool   `json:"probe"`
	Exec        bool   `json:"exec"`
	Files       bool   `json:"files"`
	ScanHostKey bool   `json:"scanHostKey"`
	Keys        bool   `json:"keys"`
	// InteractiveSetup and TemplateCapture belong to custom images: a driver
	// that has the abilities for them says so.
	InteractiveSetup bool `json:"interactiveSetup"`
	TemplateCapture  bool `json:"templateCapture"`
}

// CapabilitiesOf reads the abilities of a driver off its interfaces. It is
// called once, at registration: a plugin's proxy has every method and will
// narrow the answer by what its worker declares.
func CapabilitiesOf(d Driver, displayName string) Capabilities {
	c := Capabilities{Driver: d.Name(), DisplayName: displayName}
	_, c.Configure = d.(Configurer)
	_, c.Probe = d.(Prober)
	_, c.Exec = d.(Execer)
	_, c.Files = d.(Filer)
	_, c.ScanHostKey = d.(HostKeyScanner)
	_, c.Keys = d.(KeyTool)
	return c
}

// Ability returns the optional interface T of the driver of a name. It is the
// one place where an ability is asserted: KindUnavailable when the driver is
// not installed, KindUnsupported when it cannot do it.
func Ability[T any](drivers Drivers, name string) (T, error) {
	var none T
	d, ok := drivers.Driver(name)
	if !ok {
		return none, NotInstalled(name)
	}
	able, ok := d.(T)
	if !ok {
		return none, NewError(KindUnsupported, "unsupported", "The driver "+name+" cannot do this.")
	}
	return able, nil
}
