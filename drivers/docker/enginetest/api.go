package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// callTime is how long one call of an engine may take.
const callTime = time.Minute

func unixClient(socket string) *http.Client {
	return &http.Client{Timeout: callTime, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		},
	}}
}

// Error is an engine's refusal.
type Error struct {
	Status  int
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("the engine answered %d: %s", e.Status, e.Message) }

// call asks the engine's API. Its answer is decoded into out, unless that is nil;
// text is returned as it came.
func (e *Engine) call(method, path string, query url.Values, header http.Header, body io.Reader, out any) (string, error) {
	request, err := http.NewRequest(method, "http://engine"+path+"?"+query.Encode(), body)
	if err != nil {
		return "", fmt.Errorf("ask for %s: %w", path, err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	response, err := e.http.Do(request)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		var said struct{ Message string }
		if json.Unmarshal(text, &said) != nil || said.Message == "" {
			said.Message = strings.TrimSpace(string(text))
		}
		return "", &Error{Status: response.StatusCode, Message: said.Message}
	}
	if out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			return "", fmt.Errorf("read the answer of %s: %w", path, err)
		}
	}
	return string(text), nil
}

// send posts a JSON body.
func (e *Engine) send(path string, query url.Values, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("write the body for %s: %w", path, err)
	}
	_, err = e.call(http.MethodPost, path, query, http.Header{"Content-Type": {"application/json"}}, bytes.NewReader(body), out)
	return err
}

func (e *Engine) ping() error {
	_, err := e.call(http.MethodGet, "/_ping", nil, nil, nil, nil)
	return err
}

// streamed finds the error in an answer that is told line by line.
func streamed(text string, each func(line json.RawMessage)) error {
	for line := range strings.Lines(text) {
		var said struct{ Error string }
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			return fmt.Errorf("read %q of the engine: %w", line, err)
		}
		if said.Error != "" {
			return errors.New(said.Error)
		}
		if each != nil {
			each(json.RawMessage(line))
		}
	}
	return nil
}

func isStatus(err error, status int) bool {
	refusal, ok := errors.AsType[*Error](err)
	return ok && refusal.Status == status
}
