package environment

// Capabilities is what a driver can do, as data. Reading it never touches a
// target.
type Capabilities struct {
	Driver      string `json:"driver"`
	Provider    string `json:"provider,omitempty"`
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
	Resume           bool `json:"resume"`
	Shell            bool `json:"shell"`
	DeleteImage      bool `json:"deleteImage"`
	Identify         bool `json:"identify"`
	List             bool `json:"list"`
	// StartupBudgetMs is how long a sandbox may take to start unless its config
	// says; 0 where nothing is started.
	StartupBudgetMs int64 `json:"startupBudgetMs,omitempty"`
	// Schema is the config's JSON Schema; "" for a driver that has none.
	Schema string `json:"-"`
	// Unsupported says why nothing new can be made with it here, and what to do;
	// "" when it can. What was made with it before can still be cleaned up.
	Unsupported string `json:"unsupported,omitempty"`
}

// Key is the driver that it is about.
func (c Capabilities) Key() DriverKey { return KeyOf(c.Driver, c.Provider) }

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
	_, c.Resume = d.(Resumer)
	_, c.Shell = d.(Sheller)
	_, c.DeleteImage = d.(ImageDeleter)
	_, c.Identify = d.(Identifier)
	_, c.List = d.(Lister)
	_, c.TemplateCapture = d.(Capturer)
	if p, ok := d.(Provided); ok {
		c.Provider = p.Provider()
	}
	if s, ok := d.(Schemer); ok {
		c.Schema = string(s.Schema())
	}
	if b, ok := d.(Budgeter); ok {
		c.StartupBudgetMs = b.StartupBudget(nil).Milliseconds()
	}
	return c
}

// Ability returns the optional interface T of the driver of a key. It is the
// one place where an ability is asserted: KindUnavailable when the driver is
// not installed, KindUnsupported when it cannot do it.
func Ability[T any](drivers Drivers, key DriverKey) (T, error) {
	var none T
	d, ok := drivers.Driver(key)
	if !ok {
		return none, NotInstalled(key)
	}
	able, ok := d.(T)
	if !ok {
		return none, NewError(KindUnsupported, "unsupported", "The driver "+key.String()+" cannot do this.")
	}
	return able, nil
}
