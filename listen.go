package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"berth/environment"
	"berth/handlers/cli"
)

// listen opens the server's socket. A server without sign-in listens on
// loopback only: whoever reaches it is the operator.
func listen(ctx context.Context, o cli.ServeOptions) (net.Listener, error) {
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, environment.Invalid("listen_invalid", fmt.Sprintf("--listen %q is not an address such as 127.0.0.1:3100.", o.Listen))
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, environment.Invalid("listen_not_loopback",
			fmt.Sprintf("In local_trusted the server listens on loopback only, and %q is not.", o.Listen)).
			Remedy("Listen on 127.0.0.1 or [::1], and reach it from elsewhere through an SSH tunnel.")
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Listen)
	if errors.Is(err, syscall.EADDRINUSE) && o.OtherPort {
		l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, environment.Unavailable("listen_busy", "Something listens on "+o.Listen+" already.").
			Remedy("Stop it, or choose another port with --listen.").Because(err)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", o.Listen, err)
	}
	return l, nil
}

// httpServer has limits on everything but the length of an answer: streams set
// the time for each event by themselves.
func httpServer(h http.Handler, log httpLog) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout:      5 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          log.logger(),
	}
}

// address is the URL of a listener.
func address(l net.Listener) string {
	return "http://" + strings.Replace(l.Addr().String(), "[::]", "[::1]", 1)
}
