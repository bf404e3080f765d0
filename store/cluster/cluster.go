// Package cluster runs Berth's private PostgreSQL: a cluster in the data
// folder, on a unix socket only, as an ordinary user even when the server runs
// as root.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

const (
	role     = "berth"
	database = "berth"

	startLimit = 60 * time.Second // a cluster that crashed reads its log first
	stopLimit  = 3 * time.Second  // then it is stopped the hard way; it recovers at the next start
)

// Cluster is a running private PostgreSQL.
type Cluster struct {
	place    place
	password string
	settings []string
	log      *slog.Logger

	stopOnce sync.Once
	stopping chan struct{}
	hurry    chan struct{} // closed when Stop has no patience left
	done     chan struct{} // closed when no postmaster of ours runs any more
}

// Start starts the cluster in dataDir, which it makes when there is none, and
// returns when it takes connections. A postmaster that a killed server left
// behind is stopped first. Settings are PostgreSQL's own, "name=value". The
// caller holds the data folder's lock, and must call Stop. A postmaster that
// dies by itself is started again.
func Start(ctx context.Context, dataDir string, log *slog.Logger, settings ...string) (*Cluster, error) {
	p, err := locate(ctx, dataDir, os.Getenv, log)
	if err != nil {
		return nil, err
	}
	return p.start(ctx, log, settings)
}

// Command sets up what Start would start and returns the postmaster's command,
// not run yet, with its URL: for who minds the process by other means, as tests
// do whose cluster outlives every test. Credentials are set on the command.
func Command(ctx context.Context, dataDir string, log *slog.Logger, settings ...string) (*exec.Cmd, string, error) {
	p, err := locate(ctx, dataDir, os.Getenv, log)
	if err != nil {
		return nil, "", err
	}
	password, err := p.ensure(ctx, log, settings)
	if err != nil {
		return nil, "", fmt.Errorf("set up the private PostgreSQL in %s: %w", p.data, err)
	}
	c := &Cluster{place: p, password: password, settings: settings, log: log}
	return c.command(), c.URL(), nil
}

func (p place) start(ctx context.Context, log *slog.Logger, settings []string) (*Cluster, error) {
	if err := p.recover(ctx, log); err != nil {
		return nil, fmt.Errorf("recover the private PostgreSQL in %s: %w", p.data, err)
	}
	password, err := p.ensure(ctx, log, settings)
	if err != nil {
		return nil, fmt.Errorf("set up the private PostgreSQL in %s: %w", p.data, err)
	}
	c := &Cluster{place: p, password: password, settings: settings, log: log,
		stopping: make(chan struct{}), hurry: make(chan struct{}), done: make(chan struct{})}
	pm, err := c.launch(ctx)
	if err != nil {
		return nil, fmt.Errorf("start the private PostgreSQL in %s: %w", p.data, err)
	}
	go c.mind(pm)
	return c, nil
}

// URL is where the cluster is reached. It holds the password.
func (c *Cluster) URL() string { return socketURL(c.place.socket, c.password) }

// Stop ends the cluster in good order, and the hard way when that takes too
// long or ctx ends; either way nothing of it runs when Stop returns. It may be
// called twice.
func (c *Cluster) Stop(ctx context.Context) error {
	c.stopOnce.Do(func() { close(c.stopping) })
	limit := time.NewTimer(stopLimit)
	defer limit.Stop()
	select {
	case <-c.done:
		return nil
	case <-limit.C:
	case <-ctx.Done():
	}
	select {
	case c.hurry <- struct{}{}:
	case <-c.done:
		return nil
	}
	<-c.done
	return nil
}

// mind waits for the postmaster, starts it again when it died by itself, and
// ends it after Stop.
func (c *Cluster) mind(pm *postmaster) {
	defer close(c.done)
	defer c.place.removeSocketDir()
	for {
		select {
		case <-c.stopping:
			c.end(pm)
			return
		case <-pm.exited:
			c.log.Error("the private PostgreSQL ended by itself; starting it again", "err", pm.err)
			if pm = c.relaunch(); pm == nil {
				return
			}
		}
	}
}

// end stops the postmaster: fast, then immediately.
func (c *Cluster) end(pm *postmaster) {
	pm.signal(fastShutdown)
	select {
	case <-pm.exited:
		return
	case <-c.hurry:
	}
	c.log.Warn("the private PostgreSQL takes too long to stop; stopping it at once")
	pm.signal(immediateShutdown)
	<-pm.exited
}

// relaunch starts the postmaster until it runs; nil when Stop came first.
func (c *Cluster) relaunch() *postmaster {
	pause := 100 * time.Millisecond
	for {
		ctx, cancel := context.WithTimeout(context.Background(), startLimit)
		stop := c.cancelOnStop(cancel)
		pm, err := c.launch(ctx)
		stop()
		if err == nil {
			return pm
		}
		c.log.Error("start the private PostgreSQL again", "err", err)
		select {
		case <-c.stopping:
			return nil
		case <-time.After(pause):
			pause = min(2*pause, 5*time.Second)
		}
	}
}

// cancelOnStop calls cancel when Stop is called; the returned function ends
// that, and cancels too.
func (c *Cluster) cancelOnStop(cancel func()) func() {
	over := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-c.stopping:
			cancel()
		case <-over:
		}
	})
	return func() {
		close(over)
		watch.Wait()
		cancel()
	}
}

// place is where a cluster lives and with what it is run.
type place struct {
	root    string // the data folder
	data    string // PostgreSQL's own
	socket  string // folder of the socket
	bin     string
	account *account // nil: as this process
}

func locate(ctx context.Context, dataDir string, getenv func(string) string, log *slog.Logger) (place, error) {
	root, err := filepath.Abs(dataDir)
	if err != nil {
		return place{}, fmt.Errorf("find the data folder: %w", err)
	}
	p := place{root: root, data: filepath.Join(root, "postgres")}
	if p.account, err = ordinaryUser(); err != nil {
		return place{}, err
	}
	if err := p.makeRoot(); err != nil {
		return place{}, err
	}
	if p.bin, err = p.binaries(ctx, getenv, candidates(getenv), log); err != nil {
		return place{}, err
	}
	p.socket, err = p.socketDir(os.TempDir())
	return p, err
}

// makeRoot makes the data folder. Others may pass through it when another user
// runs the cluster, but not look into it.
func (p place) makeRoot() error {
	if err := os.MkdirAll(p.root, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	if p.account == nil {
		return nil
	}
	info, err := os.Stat(p.root)
	if err == nil && info.Mode()&0o001 == 0 {
		err = os.Chmod(p.root, info.Mode().Perm()|0o011)
	}
	return errors.Join(err, p.account.reaches(filepath.Dir(p.root)))
}
