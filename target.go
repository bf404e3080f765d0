package main

import (
	"context"
	"fmt"

	"berth/drivers/ssh/sshtarget"
	"berth/handlers/cli"
)

// demoTarget starts the demo's disposable SSH server.
func demoTarget(ctx context.Context) (cli.Target, error) {
	t, err := sshtarget.Start(ctx, sshtarget.Options{})
	if err != nil {
		return cli.Target{}, fmt.Errorf("start an SSH server: %w", err)
	}
	return cli.Target{Host: t.Host, Port: t.Port, User: t.User, PrivateKey: t.PrivateKey, Workspace: t.Home, Close: t.Close}, nil
}
