package main

import (
	"io"
	"log"
	"log/slog"

	"berth/handlers/cli"
)

// newLog returns the server's log. BERTH_LOG_LEVEL=debug shows each request.
func newLog(o cli.ServeOptions) *slog.Logger {
	out := o.Err
	if out == nil {
		out = io.Discard
	}
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if o.Getenv != nil && o.Getenv("BERTH_LOG_LEVEL") == "debug" {
		options.Level = slog.LevelDebug
	}
	if o.Log == "json" {
		return slog.New(slog.NewJSONHandler(out, options))
	}
	return slog.New(slog.NewTextHandler(out, options))
}

// httpLog takes what net/http says of broken connections.
type httpLog struct{ log *slog.Logger }

func (l httpLog) logger() *log.Logger { return slog.NewLogLogger(l.log.Handler(), slog.LevelDebug) }
