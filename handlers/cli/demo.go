package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"berth/environment"

	"github.com/spf13/cobra"
)

// Target is a disposable SSH server: where it listens and who may log in.
type Target struct {
	Host       string
	Port       int
	User       string
	PrivateKey string
	Workspace  string
	// Close ends the server and all that runs on it, and removes its folder.
	Close func() error
}

func (a *app) demoCommand() *cobra.Command {
	var listen string
	var exit, keepLog bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the main job with a disposable SSH target; Ctrl-C removes all of it",
		Long: `Starts a server with a private PostgreSQL and a disposable SSH server in a
temporary folder, saves the target, trusts its key, tests it, runs a command
there, and leaves the page open at its address. Ctrl-C removes all of it. It
needs a PostgreSQL binary and nothing else.`,
		Args: exactly(),
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if a.flags.json {
			return &usageError{"the demo is for people: it has no --json"}
		}
		ctx, stop := untilStopped(cmd.Context())
		defer stop()
		d := &demo{a: a, listen: listen, exit: exit || a.getenv("BERTH_DEMO_EXIT", "") == "1", keepLog: keepLog}
		return d.perform(ctx)
	}
	cmd.Flags().StringVar(&listen, "listen", a.getenv("BERTH_LISTEN", "127.0.0.1:3100"), "address to listen on; a free port when it is busy")
	cmd.Flags().BoolVar(&exit, "exit", false, "end after the last step")
	cmd.Flags().BoolVar(&keepLog, "server-log", false, "show the server's log on standard error")
	if err := cmd.Flags().MarkHidden("exit"); err != nil {
		panic(err)
	}
	return cmd
}

// demo is one performance.
type demo struct {
	a       *app
	listen  string
	exit    bool
	keepLog bool

	folder string
	url    string
	client *client
	served chan error // the server's end
	fell   bool       // it ended by itself, which was told
	log    serverLog
	target Target
	undo   []func() error // in reverse
	number int
	demoMade
}

// serverLog keeps what the server logs, for when it fails.
type serverLog struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *serverLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *serverLog) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// perform does every step, waits for ctx unless it is to exit, and takes all of
// it away again.
func (d *demo) perform(ctx context.Context) (err error) {
	defer func() {
		d.a.say("")
		d.a.say("Removing the server, the database, the target and their folder.")
		for i := len(d.undo) - 1; i >= 0; i-- {
			err = errors.Join(err, d.undo[i]())
		}
	}()
	if err := d.play(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // Ctrl-C on the way
		}
		if text := d.log.text(); text != "" {
			d.a.say("The server's log:\n%s", text)
		}
		return err
	}
	if d.exit {
		return nil
	}
	d.line("")
	d.line("Ctrl-C removes all of it.")
	select {
	case <-ctx.Done():
		return nil
	case err := <-d.served:
		return d.fall("the server stopped", err)
	}
}

func (d *demo) play(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		d.startServer, d.startTarget, d.prepare, d.saveTarget, d.trustKey, d.probe, d.runThere, d.showPages,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) line(format string, args ...any) { writef(d.a.env.Out, format+"\n", args...) }

// step heads what comes with its number and, for the curious, the command that
// does the same.
func (d *demo) step(title, command string) {
	d.number++
	d.line("")
	d.line("%d. %s", d.number, title)
	if command != "" {
		d.line("   $ berth %s", command)
	}
}

func (d *demo) startServer(ctx context.Context) error {
	d.step("Start a server with a private PostgreSQL", "")
	folder, err := os.MkdirTemp("", "berth-demo-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	d.folder = folder
	d.undo = append(d.undo, func() error { return os.RemoveAll(folder) })
	// PostgreSQL may run as another user, who must be able to walk in.
	if err := os.Chmod(folder, 0o711); err != nil {
		return fmt.Errorf("open the folder: %w", err)
	}
	ready := make(chan string, 1)
	var log io.Writer = &d.log
	if d.keepLog {
		log = d.a.env.Err
	}
	server, stop := context.WithCancel(context.WithoutCancel(ctx))
	d.served = make(chan error, 1)
	go func() {
		d.served <- d.a.hooks.Serve(server, ServeOptions{
			Listen: d.listen, OtherPort: true, DataDir: filepath.Join(folder, "data"), Mode: "local_trusted", Log: "text", Fake: true,
			RunGrace: environment.RunGrace, Getenv: d.a.env.Getenv, Err: log,
			Ready: func(url string) { ready <- url },
		})
	}()
	d.undo = append(d.undo, func() error {
		stop()
		if err := <-d.served; err != nil && !d.fell && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("stop the server: %w", err)
		}
		return nil
	})
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-d.served:
		return d.fall("start the server", err)
	case d.url = <-ready:
	}
	d.a.flags.apiBase, d.a.flags.apiKey, d.a.flags.company = d.url, "", ""
	if d.client, err = d.a.client(); err != nil {
		return err
	}
	d.client.key = ""
	d.line("   it answers at %s, its data is in %s", d.url, folder)
	return nil
}

// fall tells why the server ended by itself, and leaves that for the taking down
// to find.
func (d *demo) fall(what string, err error) error {
	d.fell = true
	d.served <- err
	if err == nil {
		err = errors.New("it ended")
	}
	return fmt.Errorf("%s: %w", what, err)
}

func (d *demo) startTarget(ctx context.Context) error {
	d.step("Start a disposable SSH server as the target", "")
	target, err := d.a.hooks.Target(ctx)
	if err != nil {
		return fmt.Errorf("start the target: %w", err)
	}
	d.target = target
	d.undo = append(d.undo, target.Close)
	d.line("   it listens at %s port %d, user %s", target.Host, target.Port, target.User)
	return nil
}
