// Package drivers keeps what kinds of target this server can use.
package drivers

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"berth/environment"
)

var _ environment.Drivers = (*Registry)(nil)

// Entry is one driver as main lists it.
type Entry struct {
	Driver      environment.Driver
	DisplayName string // what people read: "Local", "SSH"
	// Unsupported says why nothing new is made with it here, and what to do; "".
	Unsupported string
}

// Registry answers which drivers are installed. Readers see one snapshot; it is
// replaced as a whole when the drivers change.
type Registry struct {
	current atomic.Pointer[Snapshot]
}

// Snapshot is what was installed at one moment. Generation grows with each
// change, so that what is derived from one can be cached by it.
type Snapshot struct {
	Generation   uint64
	drivers      map[environment.DriverKey]environment.Driver
	capabilities []environment.Capabilities
}

// NewRegistry returns a registry of the entries. A driver without a name, a nil
// driver and a second driver of a name are refused with an error.
func NewRegistry(entries ...Entry) (*Registry, error) {
	s := &Snapshot{Generation: 1, drivers: make(map[environment.DriverKey]environment.Driver, len(entries))}
	for _, e := range entries {
		if e.Driver == nil {
			return nil, errors.New("register driver: it is nil")
		}
		name := e.Driver.Name()
		if name == "" {
			return nil, fmt.Errorf("register driver %T: it has no name", e.Driver)
		}
		caps := environment.CapabilitiesOf(e.Driver, e.DisplayName)
		caps.Unsupported = e.Unsupported
		key := caps.Key()
		if _, taken := s.drivers[key]; taken {
			return nil, fmt.Errorf("register driver %q: the name is taken", key)
		}
		s.drivers[key] = e.Driver
		s.capabilities = append(s.capabilities, caps)
	}
	slices.SortFunc(s.capabilities, func(a, b environment.Capabilities) int {
		return cmp.Or(cmp.Compare(a.Driver, b.Driver), cmp.Compare(a.Provider, b.Provider))
	})
	r := &Registry{}
	r.current.Store(s)
	return r, nil
}

// Snapshot returns what is installed now.
func (r *Registry) Snapshot() *Snapshot { return r.current.Load() }

// Driver returns the installed driver of a key.
func (r *Registry) Driver(key environment.DriverKey) (environment.Driver, bool) {
	d, ok := r.Snapshot().drivers[key]
	return d, ok
}

// Capabilities returns what is installed, sorted by name. The slice is the
// caller's own.
func (r *Registry) Capabilities() []environment.Capabilities {
	return slices.Clone(r.Snapshot().capabilities)
}

// Close takes every driver out and closes those that hold connections. Closing
// twice is not an error.
func (r *Registry) Close() error {
	old := r.Snapshot()
	for !r.current.CompareAndSwap(old, &Snapshot{Generation: old.Generation + 1}) {
		old = r.Snapshot()
	}
	var errs []error
	for key, d := range old.drivers {
		if c, ok := d.(environment.Closer); ok {
			if err := c.Close(); err != nil {
				errs = append(errs, fmt.Errorf("close driver %q: %w", key, err))
			}
		}
	}
	return errors.Join(errs...)
}
