package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// message is one event of a stream.
type message struct {
	id, event, data string
}

// maxMessage is the longest line of a stream that is read.
const maxMessage = 4 << 20

// stream reads an event stream from after an id ("" is its beginning) and calls
// each with every message, until each returns done, the stream ends (nil) or
// breaks.
func (c *client) stream(ctx context.Context, path, after string, each func(message) (done bool, err error)) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/api"+path, nil)
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	c.dress(req, "text/event-stream")
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.unreachable(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= 300 {
		return c.refusal(resp)
	}
	if resp.StatusCode == http.StatusNoContent {
		return nil // all of it was read before
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return c.notBerth(fmt.Errorf("the answer is %s", resp.Header.Get("Content-Type")))
	}
	return readMessages(resp.Body, each)
}

// readMessages parses the event stream format.
func readMessages(r io.Reader, each func(message) (bool, error)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxMessage)
	var m message
	var data []string
	for lines.Scan() {
		line := lines.Text()
		if line == "" {
			if m.event != "" || len(data) > 0 {
				m.data = strings.Join(data, "\n")
				if done, err := each(m); done || err != nil {
					return err
				}
			}
			m, data = message{id: m.id}, nil
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			m.id = value
		case "event":
			m.event = value
		case "data":
			data = append(data, value)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the stream: %w", err)
	}
	return nil
}
