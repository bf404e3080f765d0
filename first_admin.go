package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"berth/environment/identity"
	"berth/handlers/cli"
)

// offerFirstAdmin prints the link with which somebody becomes the first admin,
// while there is none. It goes to standard error once and never into the log:
// whoever has it owns the server.
func offerFirstAdmin(ctx context.Context, o cli.ServeOptions, people *identity.Service, url string) error {
	if o.Mode != "authenticated" {
		return nil
	}
	token, err := people.FirstAdminLink(ctx)
	if err != nil {
		return fmt.Errorf("make the link for the first admin: %w", err)
	}
	if token.Empty() {
		return nil
	}
	link, err := people.OpenLink(ctx, token.Reveal())
	if err != nil {
		return fmt.Errorf("read the link for the first admin: %w", err)
	}
	if o.PublicURL != "" {
		url = strings.TrimRight(o.PublicURL, "/")
	}
	out := o.Err
	if out == nil {
		out = io.Discard
	}
	_, err = fmt.Fprintf(out, "Nobody administers this server yet. Open this link to become its first admin.\n"+
		"It works once, until %s; a restart makes a new one.\n\n  %s/link/%s\n\n",
		link.ExpiresAt.UTC().Format(time.RFC3339), url, token.Reveal())
	return err
}
