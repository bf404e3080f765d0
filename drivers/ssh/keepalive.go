package ssh

import "time"

// missedKeepAlives is how many intervals may pass without an answer.
const missedKeepAlives = 3

// attend keeps a connection alive and ends it when it is dead, or when no
// session used it for the pool's idle time. keepAlive 0 sends nothing.
func (p *pool) attend(conn *connection, keepAlive time.Duration) {
	interval := p.idle / 4
	if keepAlive > 0 {
		interval = min(interval, keepAlive)
	}
	tick := time.NewTicker(max(interval, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-conn.done:
			return
		case <-tick.C:
		}
		if p.idleFor(conn) >= p.idle || (keepAlive > 0 && !alive(conn, keepAlive)) {
			conn.link.close()
		}
	}
}

// idleFor is how long no session used the connection; 0 while one does.
func (p *pool) idleFor(conn *connection) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if conn.sessions > 0 {
		return 0
	}
	return time.Since(conn.used)
}

// alive asks the server for a sign of life. Any answer is one, a refusal too.
func alive(conn *connection, keepAlive time.Duration) bool {
	answered := make(chan error, 1)
	go func() {
		_, _, err := conn.link.client().SendRequest("keepalive@openssh.com", true, nil)
		answered <- err
	}()
	limit := time.NewTimer(missedKeepAlives * keepAlive)
	defer limit.Stop()
	select {
	case err := <-answered:
		return err == nil
	case <-conn.done:
		return false
	case <-limit.C:
		return false
	}
}
