package cli

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// ask sends one request and shows the answer: as JSON when asked for, else as
// people prints it.
func ask[T any](a *app, ctx context.Context, r request, people func(io.Writer, T)) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	var answer T
	r.into = &answer
	if err := c.call(ctx, r); err != nil {
		return err
	}
	return a.show(answer, func(w io.Writer) { people(w, answer) })
}

// nothing is the answer of a request that answers 204, as JSON.
type nothing struct {
	OK bool `json:"ok"`
}

// tell sends one request whose answer says nothing, and tells people what was
// done.
func (a *app) tell(ctx context.Context, r request, done string) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	if err := c.call(ctx, r); err != nil {
		return err
	}
	return a.show(nothing{OK: true}, func(w io.Writer) { writef(w, "%s\n", done) })
}

// each reads a list to its end and shows it.
func each[T any](a *app, ctx context.Context, path string, people func(io.Writer, []T)) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	all, err := list[T](ctx, c, path, nil)
	if err != nil {
		return err
	}
	return a.show(all, func(w io.Writer) { people(w, all) })
}

// inCompany gives the path below the company that a command works in.
func (a *app) inCompany(ctx context.Context, below string) (string, error) {
	c, err := a.client()
	if err != nil {
		return "", err
	}
	id, err := a.companyID(ctx, c)
	return "/companies/" + id.String() + below, err
}

// sure is nil when --yes was given or a person at a terminal agreed; else a usage
// error, so that a script never waits.
func (a *app) sure(yes bool, question string) error {
	switch {
	case yes:
		return nil
	case !interactive(a.env.In):
		return &usageError{"this needs --yes when there is no terminal to ask at"}
	case !a.confirm(question):
		return &exitError{code: exitFailed, cause: errors.New("nothing was done")}
	}
	return nil
}

func post(path string, body any) request {
	return request{method: http.MethodPost, path: path, body: body}
}

func change(path string, body any) request {
	return request{method: http.MethodPatch, path: path, body: body}
}

func get(path string) request { return request{method: http.MethodGet, path: path} }

func remove(path string) request { return request{method: http.MethodDelete, path: path} }
