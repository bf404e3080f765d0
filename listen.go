package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"berth/environment"
	"berth/handlers/cli"
)

// listen opens the server's socket. A server without sign-in listens on
// loopback only: whoever reaches it is the operator. Where people sign in, it may
// listen anywhere.
func listen(ctx context.Context, o cli.ServeOptions) (net.Listener, error) {
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, environment.Invalid("listen_invalid", fmt.Sprintf("--listen %q is not an address such as 127.0.0.1:3100.", o.Listen))
	}
	if o.Mode != "authenticated" && !isLoopback(host) {
		return nil, environment.Invalid("listen_not_loopback",
			fmt.Sprintf("In local_trusted the server listens on loopback only, and %q is not.", o.Listen)).
			Remedy("Listen on 127.0.0.1 or [::1], and reach it from elsewhere through an SSH tunnel, or let people sign in: --mode authenticated.")
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

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// warnOfPlainAddress says what is missing when browsers come from elsewhere: over
// plain http a session's cookie can be read on the way.
func warnOfPlainAddress(o cli.ServeOptions, log *slog.Logger) {
	host, _, _ := net.SplitHostPort(o.Listen)
	switch {
	case isLoopback(host):
	case o.PublicURL == "":
		log.Warn("this server listens beyond this machine and has no --public-url: passwords and sessions pass the network unencrypted, "+
			"and links name the address that it listens on; put a proxy with TLS before it and name its address", "listen", o.Listen)
	case !strings.HasPrefix(o.PublicURL, "https:"):
		log.Warn("the public URL is plain http: passwords and sessions pass the network unencrypted", "public_url", o.PublicURL)
	}
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

// address is the URL of a listener, as this machine reaches it.
func address(l net.Listener) string {
	at := strings.Replace(l.Addr().String(), "[::]", "[::1]", 1)
	if port, ok := strings.CutPrefix(at, "0.0.0.0:"); ok {
		at = "127.0.0.1:" + port
	}
	return "http://" + at
}
