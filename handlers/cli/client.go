package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"time"

	"berth/environment"
	"berth/handlers/api"
)

// problem is an error in the API's words.
type problem api.Error

func newProblem(code, message string) problem {
	return problem{Code: code, Error: message}
}

// fields are the errors at single fields, if the problem has any.
func (p problem) fields() []environment.FieldError {
	raw, err := json.Marshal(p.Details["fields"])
	if err != nil {
		return nil
	}
	var fields []environment.FieldError
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil
	}
	return fields
}

// apiError is a refusal of the server.
type apiError struct {
	Status int
	Body   api.Error
}

func (e *apiError) Error() string { return e.Body.Error }

// client speaks to the JSON API.
type client struct {
	base  string
	key   string
	agent string
	http  *http.Client
}

// request is one call. Body nil sends none; Into nil ignores the answer.
type request struct {
	method  string
	path    string // with query
	body    any
	ifMatch string
	into    any
}

// callTimeout bounds an ordinary call; a probe that is waited for, and streams,
// are bounded by their caller's context instead.
const callTimeout = 60 * time.Second

// client speaks for whoever this command line is.
func (a *app) client() (*client, error) {
	key, err := a.key()
	if err != nil {
		return nil, err
	}
	return a.clientWith(key)
}

func (a *app) clientWith(key string) (*client, error) {
	u, err := url.Parse(a.flags.apiBase)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, &usageError{fmt.Sprintf("--api-base %q is not an address such as http://127.0.0.1:3100", a.flags.apiBase)}
	}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 5 * time.Minute,
	}
	return &client{base: a.base(), key: key, agent: "berth/" + a.hooks.Version.Version, http: &http.Client{Transport: transport}}, nil
}

// call sends a request and reads the JSON answer. Errors: *apiError when the
// server refused, an environment.Error server_unreachable when it could not be
// asked.
func (c *client) call(ctx context.Context, r request) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return c.wait(ctx, r)
}

// wait is call without a time limit of its own.
func (c *client) wait(ctx context.Context, r request) error {
	resp, err := c.send(ctx, r, "application/json")
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if r.into == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(r.into); err != nil {
		if ctx.Err() != nil {
			return c.unreachable(ctx.Err())
		}
		return c.notBerth(err)
	}
	return nil
}

// send returns the answer of a request that the server accepted; its body must
// be closed.
func (c *client) send(ctx context.Context, r request, accept string) (*http.Response, error) {
	var body io.Reader
	if r.body != nil {
		b, err := json.Marshal(r.body)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, c.base+"/api"+r.path, body)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	c.dress(req, accept)
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.ifMatch != "" {
		req.Header.Set("If-Match", r.ifMatch)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(err)
	}
	if resp.StatusCode >= 300 {
		defer func() { _ = resp.Body.Close() }()
		return nil, c.refusal(resp)
	}
	return resp, nil
}

// dress sets what every request carries.
func (c *client) dress(req *http.Request, accept string) {
	req.Header.Set("Accept", accept)
	req.Header.Set("User-Agent", c.agent)
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
}

func (c *client) refusal(resp *http.Response) error {
	e := &apiError{Status: resp.StatusCode}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err == nil && kind == "application/json" {
		err = json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&e.Body)
	}
	if err != nil || e.Body.Error == "" {
		e.Body = api.Error{Code: "unexpected_answer", Error: fmt.Sprintf("%s answered %s, and not as a Berth server does.", c.base, resp.Status)}
	}
	return e
}

func (c *client) notBerth(err error) error {
	return environment.Unavailable("unexpected_answer", "What "+c.base+" answered is not what a Berth server answers.").
		Because(err).Remedy("Check --api-base.")
}

func (c *client) unreachable(err error) error {
	cause := err
	if e, ok := errors.AsType[*url.Error](err); ok {
		cause = e.Err
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return environment.NewError(environment.KindTimeout, "server_timeout", "The server at "+c.base+" did not answer in time.").Because(err)
	case errors.Is(err, context.Canceled):
		return &exitError{code: exitFailed, cause: errors.New("interrupted")}
	}
	return environment.Unavailable("server_unreachable", fmt.Sprintf("The server at %s cannot be reached: %v.", c.base, cause)).
		Because(err).Remedy(`Start it with "berth serve", or name another with --api-base.`)
}
