package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"berth/environment"
)

// maxManaged is how large the file of the managed sandbox may be.
const maxManaged = 1 << 20

// provisionAtStart makes the managed sandbox be what its file says; without a file
// none is provisioned. A file that cannot be used keeps the server from starting.
func (p *parts) provisionAtStart(ctx context.Context, path string) error {
	if path == "" {
		return p.catalogue.ProvisionManaged(ctx, nil)
	}
	m, err := p.readManaged(path)
	if err == nil {
		err = p.catalogue.ProvisionManaged(ctx, m)
	}
	if err != nil {
		return fmt.Errorf("--managed-sandbox %s: %w", path, told(err))
	}
	p.log.Info("the managed sandbox is provisioned", "name", m.Name, "provider", m.Provider, "file", path)
	return nil
}

// provisionOnHangup is a loop: at each SIGHUP it reads the file again. One that is
// gone provisions nothing any more; one that cannot be used changes nothing.
func (p *parts) provisionOnHangup(ctx context.Context) error {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	p.log.Info("the managed sandbox's file is read again at SIGHUP", "file", p.managedFile)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-hangups:
			p.provisionAgain(ctx, p.managedFile)
		}
	}
}

func (p *parts) provisionAgain(ctx context.Context, path string) {
	m, err := p.readManaged(path)
	gone := errors.Is(err, fs.ErrNotExist)
	if err == nil || gone {
		err = p.catalogue.ProvisionManaged(ctx, m)
	}
	switch {
	case err != nil:
		p.log.Error("the managed sandbox stays as it was", "file", path, "err", told(err))
	case gone:
		p.log.Warn("the managed sandbox is provisioned no more: its file is gone", "file", path)
	default:
		p.log.Info("the managed sandbox is provisioned", "name", m.Name, "provider", m.Provider, "file", path)
	}
}

// readManaged reads the file. One that others may read is warned of: it may hold
// secrets.
func (p *parts) readManaged(path string) (*environment.ManagedSandbox, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("this is no file")
	}
	if info.Mode().Perm()&0o004 != 0 {
		p.log.Warn("everybody on this machine may read the managed sandbox's file, and any secret in it; chmod o-r it", "file", path)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxManaged+1))
	if err != nil {
		return nil, err
	}
	return parseManaged(raw)
}

// parseManaged reads the one JSON object; a key that is not known is refused. What
// it complains of holds no value.
func parseManaged(raw []byte) (*environment.ManagedSandbox, error) {
	if len(raw) > maxManaged {
		return nil, errors.New("it has more than 1 MiB")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var m environment.ManagedSandbox
	if err := d.Decode(&m); err != nil {
		if wrong, is := errors.AsType[*json.UnmarshalTypeError](err); is {
			return nil, fmt.Errorf("%s has the wrong type", cmp.Or(wrong.Field, "what it holds"))
		}
		return nil, fmt.Errorf("it is not the JSON that is asked for: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one JSON value")
	}
	return &m, nil
}

// told is an error with the fields that it names.
func told(err error) error {
	e, is := errors.AsType[*environment.Error](err)
	if !is || len(e.Fields) == 0 {
		return err
	}
	lines := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		lines[i] = f.Field + ": " + f.Message
	}
	return errors.New(strings.Join(lines, " "))
}
