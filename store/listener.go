package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/lib/pq"
)

// channel is the one NOTIFY channel; a notification's payload is its subject.
const channel = "berth"

// Between two attempts to connect, and between two checks of a quiet connection.
const (
	minReconnect = 50 * time.Millisecond
	maxReconnect = time.Second
	pingEvery    = 5 * time.Second
)

var _ environment.Feed = (*Listener)(nil)

// Listener wakes readers when other transactions, of any server, changed what
// they read. It holds one connection and finds it again when it is lost.
type Listener struct {
	from *pq.Listener
	log  *slog.Logger
	done chan struct{}

	mu      sync.Mutex
	readers map[uuid.UUID]map[chan struct{}]struct{}
}

// Listen returns a Listener that is connected. Its Close must be called.
func (db *DB) Listen(ctx context.Context) (*Listener, error) {
	l := &Listener{log: db.log, done: make(chan struct{}),
		readers: map[uuid.UUID]map[chan struct{}]struct{}{}}
	l.from = pq.NewDialListener(dialer{limit: 2 * pingEvery}, db.dsn, minReconnect, maxReconnect, l.connection)
	listening := make(chan error, 1)
	go func() { listening <- l.from.Listen(channel) }()
	go l.run()
	select {
	case err := <-listening:
		if err != nil {
			return nil, fmt.Errorf("listen to the database: %w", errors.Join(err, l.Close()))
		}
		return l, nil
	case <-ctx.Done():
		err := errors.Join(ctx.Err(), l.Close(), <-listening)
		return nil, fmt.Errorf("listen to the database: %w", err)
	}
}

// connection is told how the connection fares.
func (l *Listener) connection(event pq.ListenerEventType, err error) {
	switch event {
	case pq.ListenerEventDisconnected:
		l.log.Warn("lost the database's notifications", "err", err)
	case pq.ListenerEventReconnected:
		l.log.Info("notifications are back")
	}
}

// run hands notifications out until Close.
func (l *Listener) run() {
	defer close(l.done)
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	var pinging sync.WaitGroup
	defer pinging.Wait()
	for {
		select {
		case n, ok := <-l.from.NotificationChannel():
			if !ok {
				return
			}
			l.dispatch(n)
		case <-ping.C:
			// In a goroutine of its own: an answer comes in through the
			// notifications that this loop takes.
			pinging.Go(func() { _ = l.from.Ping() })
		}
	}
}

// dispatch wakes the readers of a notification's subject. After a lost
// connection lib/pq sends nil: anything may have been missed, so all are woken.
func (l *Listener) dispatch(n *pq.Notification) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n != nil {
		if subject, err := uuid.Parse(n.Extra); err == nil {
			wakeAll(l.readers[subject])
			return
		}
	}
	for _, readers := range l.readers {
		wakeAll(readers)
	}
}

func wakeAll(readers map[chan struct{}]struct{}) {
	for wake := range readers {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

// Subscribe implements environment.Feed.
func (l *Listener) Subscribe(subject uuid.UUID) (<-chan struct{}, func()) {
	wake := make(chan struct{}, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readers[subject] == nil {
		l.readers[subject] = map[chan struct{}]struct{}{}
	}
	l.readers[subject][wake] = struct{}{}
	return wake, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.readers[subject], wake)
		if len(l.readers[subject]) == 0 {
			delete(l.readers, subject)
		}
	}
}

// Close ends the connection; no reader is woken any more.
func (l *Listener) Close() error {
	err := l.from.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil // closed before
	}
	<-l.done
	return err
}
