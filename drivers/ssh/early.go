package ssh

import (
	"context"
	"sync/atomic"
	"time"

	"berth/drivers/shell"
)

// earlyLimit is how long a session that was opened early waits for its work.
const earlyLimit = 5 * time.Second

// early is a session that is opened while its lease is being written down, so
// that the work does not wait for it.
type early struct {
	claimed atomic.Bool         // by the work, or by the end of the wait
	session chan *session       // one, or it is closed
	conn    chan *connection    // the same
}

// openEarly begins to open a session of a plan. It is closed when no work takes
// it in time.
func (d *Driver) openEarly(p *plan, key poolKey) {
	e := &early{session: make(chan *session, 1)}
	begun := d.pool.expect(key, e, func() {
		defer close(e.session)
		ctx, cancel := context.WithTimeout(context.Background(), earlyLimit)
		defer cancel()
		if s, err := d.open(ctx, p); err == nil {
			e.session <- s
		}
	})
	if begun {
		time.AfterFunc(earlyLimit, func() { d.pool.giveUp(key, e) })
	}
}
