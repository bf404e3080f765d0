package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime"
	"slices"
	"time"

	"berth/drivers"
	"berth/drivers/docker"
	"berth/drivers/local"
	"berth/drivers/ssh"
	"berth/environment"
	"berth/environment/catalogue"
	"berth/environment/crew"
	"berth/environment/fleet"
	"berth/environment/identity"
	"berth/environment/leasing"
	"berth/environment/probing"
	"berth/environment/running"
	"berth/environment/secrets"
	"berth/handlers"
	"berth/handlers/cli"
	"berth/store"
	"berth/store/vault"

	"github.com/google/uuid"
)

// probeLimit is how long an ssh probe may take.
const probeLimit = 30 * time.Second

// parts are what a server is made of, wired from the bottom up.
type parts struct {
	dir   string
	log   *slog.Logger
	base  *base
	feed  *store.Listener
	vault *vault.Vault
	// managedFile describes the managed sandbox; "" for none.
	managedFile string

	drivers   *drivers.Registry
	member    *fleet.Member
	instance  uuid.UUID // the installation's id: a label of all that it makes
	catalogue *catalogue.Service
	probing   *probing.Service
	leasing   *leasing.Service
	running   *running.Service
	identity  *identity.Service
	secrets   *secrets.Service

	closers []func() error // in the order of opening
}

// openParts opens the data folder, the database and what stands on them. When
// it fails nothing is left open.
func openParts(ctx context.Context, o cli.ServeOptions) (_ *parts, err error) {
	p := &parts{log: newLog(o), managedFile: o.ManagedSandbox}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if p.base, err = openBase(ctx, o, p.log); err != nil {
		return nil, err
	}
	p.closers, p.dir = append(p.closers, p.base.close), p.base.dir
	db := p.base.db
	if p.vault, err = vault.Open(keysetPath(o, p.dir)); err != nil {
		return nil, err
	}
	keys := p.vault.Fingerprints()
	if err := db.BindKeyset(ctx, keys[0], keys[1:]...); err != nil {
		return nil, err
	}
	if p.feed, err = db.Listen(ctx); err != nil {
		return nil, err
	}
	p.closers = append(p.closers, p.feed.Close)
	if p.member, err = fleet.Join(ctx, db, environment.NewID(), p.base.node, release, p.log); err != nil {
		return nil, err
	}
	if p.instance, err = db.InstanceID(ctx); err != nil {
		return nil, err
	}
	if err := p.openDrivers(o); err != nil {
		return nil, err
	}
	p.openServices(o)
	if _, err := p.catalogue.EnsureLocal(ctx, o.Mode == "local_trusted"); err != nil {
		return nil, fmt.Errorf("make the environment Local: %w", err)
	}
	if err := p.provisionAtStart(ctx, o.ManagedSandbox); err != nil {
		return nil, err
	}
	return p, nil
}

// openDrivers lists what ships.
func (p *parts) openDrivers(o cli.ServeOptions) error {
	overSSH := ssh.New(ssh.Options{
		Log: p.log, AgentSocket: o.Getenv("SSH_AUTH_SOCK"), Now: time.Now,
		OnPin: pinFirstUse(func(ctx context.Context, id uuid.UUID, knownHosts string) error {
			return p.catalogue.PinFirstUse(ctx, id, knownHosts)
		}),
	})
	var err error
	p.drivers, err = drivers.NewRegistry(
		drivers.Entry{DisplayName: "Local", Driver: local.New(local.Options{Log: p.log, DataDir: p.dir, Now: time.Now})},
		drivers.Entry{DisplayName: "SSH", Driver: overSSH},
		drivers.Entry{DisplayName: "Docker", Driver: docker.New(docker.Options{Log: p.log, Now: time.Now, DialSSH: overSSH.DialSocket})},
		p.fakeEntry(o),
	)
	if err != nil {
		return err
	}
	p.closers = append(p.closers, p.drivers.Close)
	return nil
}

// pinFirstUse stores a host key that a run trusted on first use, again while the
// database is away: a pin that was lost would let the next run trust another key.
func pinFirstUse(pin func(context.Context, uuid.UUID, string) error) func(context.Context, uuid.UUID, string) error {
	return func(ctx context.Context, id uuid.UUID, knownHosts string) error {
		return crew.Retry(ctx, crew.Transient, func(ctx context.Context) error { return pin(ctx, id, knownHosts) })
	}
}

func (p *parts) openServices(o cli.ServeOptions) {
	db, owner := p.base.db, p.member.ID
	p.catalogue = catalogue.New(db, p.drivers, p.vault, time.Now, p.log)
	p.secrets = secrets.NewService(db, p.vault, time.Now, p.log)
	p.identity = identity.New(db, vault.NewHasher(), rand.Reader, identity.Options{}, time.Now, p.log)
	p.leasing = leasing.New(db, p.catalogue, p.drivers, leasing.Options{Owner: owner, InstanceID: p.instance}, time.Now, p.log)
	p.probing = probing.New(db, p.catalogue, p.leasing, p.drivers, p.feed,
		probing.Options{Owner: owner, Parallel: runtime.NumCPU() * 8, Limit: probeLimit}, time.Now, p.log)
	p.running = running.New(db, p.catalogue, p.leasing, p.drivers, p.vault, p.feed,
		running.Options{Owner: owner, Grace: o.RunGrace}, time.Now, p.log)
}

// loops are what works in the background, by name.
func (p *parts) loops() iter.Seq2[string, func(context.Context) error] {
	return func(yield func(string, func(context.Context) error) bool) {
		_ = yield("probing", p.probing.Run) && yield("running", p.running.Run) && yield("leasing", p.leasing.Run) &&
			yield("sweeping", p.sweepExpired) &&
			(p.managedFile == "" || yield("managed sandbox", p.provisionOnHangup)) &&
			yield("catalogue", p.catalogue.Run) && yield("secrets", func(ctx context.Context) error { return p.secrets.Run(ctx, p.feed) })
	}
}

// deps is what the front door gets of a server that listens on address.
func (p *parts) deps(o cli.ServeOptions, address string, stopping <-chan struct{}) handlers.Deps {
	d := handlers.Deps{
		Catalogue: p.catalogue, Probing: p.probing, Leasing: p.leasing, Running: p.running, Identity: p.identity, Secrets: p.secrets, Feed: p.feed,
		Vault: p.vault,
		Ping:  p.base.db.Ping, StateCounts: p.base.db.StateCounts, Log: p.log, Now: time.Now,
		Version: release, Mode: o.Mode, Listen: address, PublicURL: o.PublicURL, Dev: o.Dev, Stopping: stopping,
		TrustedProxies: o.TrustedProxies,
	}
	if o.Mode == "authenticated" {
		d.Cookies = store.Cookies{DB: p.base.db}
	}
	return d
}

// close closes in the reverse order of opening.
func (p *parts) close() error {
	var errs []error
	for _, closer := range slices.Backward(p.closers) {
		errs = append(errs, closer())
	}
	return errors.Join(errs...)
}
