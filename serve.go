package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"berth/handlers"
	"berth/handlers/cli"

	"golang.org/x/sync/errgroup"
)

// Times of an orderly stop. Together they stay under the 5 s within which
// SIGTERM ends the server.
const (
	drainTime = 1500 * time.Millisecond // for requests under way
	loopsTime = 2 * time.Second         // for loops to let go of their work
	// for the private PostgreSQL; then it is stopped the hard way, and recovers
	// at the next start
	databaseTime = time.Second
)

// runningServer is a server that answers at URL.
type runningServer struct {
	URL string

	parts    *parts
	http     *http.Server
	stopping chan struct{}
	endLoops context.CancelFunc
	loops    *errgroup.Group
	failed   <-chan struct{} // closed when a loop ended by itself
	served   chan error
	endBeat  context.CancelFunc
	beat     chan error // the heartbeat's end
}

// serve runs a server until ctx ends.
func serve(ctx context.Context, o cli.ServeOptions) error {
	srv, err := startServer(ctx, o)
	if err != nil {
		return err
	}
	if o.Ready != nil {
		o.Ready(srv.URL)
	}
	select {
	case <-ctx.Done():
	case <-srv.failed:
	}
	return srv.Stop()
}

// startServer opens everything from the data folder up to the socket, and
// returns when the server answers. Whoever calls it must Stop it; ctx bounds
// the start only.
func startServer(ctx context.Context, o cli.ServeOptions) (*runningServer, error) {
	calmMemory()
	socket, err := listen(ctx, o)
	if err != nil {
		return nil, err
	}
	p, err := openParts(ctx, o)
	if err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	if err := offerFirstAdmin(ctx, o, p.identity, address(socket)); err != nil {
		return nil, errors.Join(err, socket.Close(), p.close())
	}
	srv := &runningServer{URL: address(socket), parts: p, stopping: make(chan struct{}), served: make(chan error, 1)}
	srv.http = httpServer(handlers.New(p.deps(o, socket.Addr().String(), srv.stopping)), httpLog{p.log})
	warnOfPlainAddress(o, p.log)
	srv.startLoops()
	go func() { srv.served <- srv.http.Serve(handlers.JSONRefusals(socket)) }()
	p.log.Info("serving", "url", srv.URL, "version", release, "data", p.dir)
	return srv, nil
}

// startLoops starts what works in the background. Each ends with its context;
// the heartbeat outlives the work that it vouches for.
func (s *runningServer) startLoops() {
	ctx, cancel := context.WithCancel(context.Background())
	group, failing := errgroup.WithContext(ctx)
	s.endLoops, s.loops, s.failed = cancel, group, failing.Done()
	beating, endBeat := context.WithCancel(context.Background())
	s.endBeat, s.beat = endBeat, make(chan error, 1)
	go func() { s.beat <- s.parts.member.Run(beating) }()
	for name, loop := range s.parts.loops() {
		group.Go(func() error {
			err := loop(failing)
			if failing.Err() != nil {
				return nil // it was told to end
			}
			return fmt.Errorf("%s ended by itself: %w", name, orUnexpected(err))
		})
	}
}

func orUnexpected(err error) error {
	if err == nil {
		return errors.New("it had no reason to")
	}
	return err
}

// Stop ends the server in order: no new requests, streams told, loops let go,
// drivers, database. It returns what made the server stop, if anything did.
func (s *runningServer) Stop() error {
	close(s.stopping)
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		s.parts.log.Warn("requests were cut off", "err", err)
		_ = s.http.Close() // Shutdown has told why
	}
	if err := <-s.served; !errors.Is(err, http.ErrServerClosed) {
		s.parts.log.Error("serve", "err", err)
	}
	s.endLoops()
	ended := make(chan error, 1)
	go func() { ended <- s.loops.Wait() }()
	var cause error
	select {
	case cause = <-ended:
	case <-time.After(loopsTime):
		s.parts.log.Warn("loops did not end in time")
	}
	s.endBeat()
	if err := <-s.beat; err != nil {
		s.parts.log.Warn("this server could not say that it retires", "err", err)
	}
	return errors.Join(cause, s.parts.close())
}

// calmMemory lets the heap grow to three times what is in use before it is
// collected. What is in use is so little that Go's own setting would collect
// after every few pages, and the process still stays small.
func calmMemory() {
	debug.SetGCPercent(200)
}
