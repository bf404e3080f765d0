package store

import (
	"context"
	"database/sql"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"berth/environment"

	"github.com/lib/pq"
)

// dialTimeout bounds the way to the database.
const dialTimeout = 3 * time.Second

// dataSource completes a postgres:// URL with what Berth relies on: one round
// trip for each statement, times in UTC, no endless dial. TLS is used where the
// server has it, as libpq does, unless the URL says otherwise.
func dataSource(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		// The cause is left out: it would show the password.
		return "", environment.Invalid("database_url_invalid",
			"The database URL cannot be read. It begins with postgres:// and odd characters of the password are percent-encoded.")
	}
	q := u.Query()
	for key, value := range map[string]string{
		"binary_parameters": "yes", "timezone": "UTC", "connect_timeout": "3", "sslmode": "prefer", "application_name": "berth",
	} {
		if q.Get(key) == "" {
			q.Set(key, value)
		}
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// connect returns a pool whose statements end within limit, on the server by
// its statement_timeout and here by giving up on a server that says nothing.
// A limit of 0 is none.
func connect(dsn string, limit time.Duration) (*sql.DB, error) {
	if limit > 0 {
		u, err := url.Parse(dsn)
		if err != nil {
			return nil, environment.Invalid("database_url_invalid", "The database URL cannot be read.")
		}
		q := u.Query()
		if q.Get("statement_timeout") == "" {
			q.Set("statement_timeout", limit.String())
		}
		u.RawQuery = q.Encode()
		dsn = u.String()
	}
	connector, err := pq.NewConnector(dsn)
	if err != nil {
		return nil, environment.Invalid("database_url_invalid", "The database URL is not usable: "+redact(err.Error(), dsn)+".")
	}
	connector.Dialer(dialer{limit: limit})
	return sql.OpenDB(connector), nil
}

// redact takes the password out of a message about a URL.
func redact(message, dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return "it cannot be read"
	}
	if password, ok := u.User.Password(); ok && password != "" {
		message = strings.ReplaceAll(message, password, "[secret]")
	}
	return message
}

// dialer makes connections that do not wait for ever: a database host that
// froze would else hold every request.
type dialer struct{ limit time.Duration }

// Dial implements pq.Dialer.
func (d dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialTimeout(network, address, dialTimeout)
}

// DialTimeout implements pq.Dialer.
func (d dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

// DialContext implements pq.DialerContext.
func (d dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	std := net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}
	conn, err := std.DialContext(ctx, network, address)
	if err != nil || d.limit == 0 {
		return conn, err
	}
	return &impatient{Conn: conn, limit: d.limit + 2*time.Second}, nil
}

// impatient is a connection whose reads and writes end. lib/pq reads only while
// it waits for an answer, so an idle connection is not touched; while it sets a
// deadline itself, as it does to connect, that one holds.
type impatient struct {
	net.Conn
	limit  time.Duration
	theirs atomic.Bool
}

// SetDeadline implements net.Conn.
func (c *impatient) SetDeadline(t time.Time) error {
	c.theirs.Store(!t.IsZero())
	return c.Conn.SetDeadline(t)
}

func (c *impatient) Read(b []byte) (int, error) {
	if !c.theirs.Load() {
		if err := c.SetReadDeadline(time.Now().Add(c.limit)); err != nil {
			return 0, err
		}
	}
	return c.Conn.Read(b)
}

func (c *impatient) Write(b []byte) (int, error) {
	if !c.theirs.Load() {
		if err := c.SetWriteDeadline(time.Now().Add(c.limit)); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(b)
}
