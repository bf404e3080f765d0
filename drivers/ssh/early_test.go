package ssh

import (
	"testing"
	"time"
)

// TestPool_EarlySessionExpiresWhileThePoolCloses: its timer has fired already and
// waits for the pool.
func TestPool_EarlySessionExpiresWhileThePoolCloses(t *testing.T) {
	t.Parallel()
	p := newPool(time.Minute)
	var key poolKey
	e := &early{opened: make(chan *earlyShell), expiry: time.NewTimer(time.Hour)}
	close(e.opened)
	p.early[key] = []*early{e}
	p.close()
	if p.withdraw(key, e) {
		t.Error("what the pool closed was taken from it again")
	}
}
