package main

import (
	"cmp"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"berth/drivers"
	"berth/drivers/fake"
	"berth/handlers/cli"
)

// fakeEntry is the fake sandbox provider: installed everywhere, so that what was
// made with it can be cleaned up, and offered for development and in the demo.
// Servers that share a database share its world by BERTH_FAKE_DIR.
func (p *parts) fakeEntry(o cli.ServeOptions) drivers.Entry {
	options := fake.Options{Log: p.log, Dir: cmp.Or(o.Getenv("BERTH_FAKE_DIR"), filepath.Join(p.dir, "fake")), Now: time.Now}
	entry := drivers.Entry{DisplayName: "Fake"}
	if !o.Dev && !o.Fake {
		entry.Unsupported = "The fake provider is for development: start the server with --dev to use it."
	}
	if o.Dev {
		options.Crash = func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) } // it does not return
	}
	entry.Driver = fake.New(options)
	return entry
}
