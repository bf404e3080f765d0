package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"berth/environment"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// Pauses between two looks at a container that starts.
const (
	firstLook = 50 * time.Millisecond
	maxLook   = time.Second
	// settled is for how long a container must have run in a probe.
	settled = 300 * time.Millisecond
	// noticed is how long the engine may need to see that a container has ended whose
	// commands have.
	noticed = 2 * time.Second
)

// start starts a container, unless it runs, and waits until it is healthy where
// its image has a health check. Only the engine's word "healthy" makes it so.
func (s *sandbox) start(ctx context.Context, made container.InspectResponse, b *board) error {
	switch {
	case made.State.Paused:
		limited, cancel := s.call(ctx)
		defer cancel()
		if _, err := s.ContainerUnpause(limited, s.id, client.ContainerUnpauseOptions{}); err != nil {
			return s.unstarted(ctx, err)
		}
	case !made.State.Running:
		limited, cancel := s.call(ctx)
		defer cancel()
		if _, err := s.ContainerStart(limited, s.id, client.ContainerStartOptions{}); err != nil {
			return s.unstarted(ctx, err)
		}
		if s.config.ReadOnlyRoot && !rooted(made.Config.User) {
			if err := s.unlock(ctx); err != nil {
				return err
			}
		}
	}
	if checked(made.Config.Healthcheck) {
		return s.healthy(ctx, b)
	}
	if s.thorough() {
		if err := s.stays(ctx, settled); err != nil {
			return err
		}
	}
	b.passed(fmt.Sprintf("The sandbox %s runs.", short(made.ID)), map[string]any{"status": "running", "host": made.Config.Hostname})
	return nil
}

func checked(h *container.HealthConfig) bool {
	return h != nil && len(h.Test) > 0 && h.Test[0] != "NONE"
}

// unstarted explains why a container did not start.
func (s *sandbox) unstarted(ctx context.Context, err error) error {
	said := err.Error()
	e := environment.AsError(s.explain(ctx, err, environment.CodeStartFailed, "start the sandbox"))
	if e.Kind == environment.KindInternal {
		return s.explain(ctx, err, environment.CodeStartFailed, "start the sandbox")
	}
	switch {
	case e.Code != environment.CodeStartFailed:
	case strings.Contains(said, "/bin/sh"):
		return e.Remedy("The image has no /bin/sh that this machine can execute: choose one that has, for this platform.")
	case strings.Contains(said, "runtime") && s.config.Runtime != "":
		return e.Remedy("Install the runtime on the engine, or choose another.")
	case strings.Contains(said, "network"):
		return e.Remedy("Make the network on the engine, or choose another.")
	}
	return e
}

// healthy waits for the image's health check. A word that nobody knows, and
// "unhealthy" within the startup time, are not ready yet.
func (s *sandbox) healthy(ctx context.Context, b *board) error {
	word := "starting"
	for look := firstLook; ; look = min(2*look, maxLook) {
		now, err := s.inspect(ctx)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if err == nil {
			if !now.State.Running {
				return s.ended(now.State)
			}
			if word = health(now.State); word == string(container.Healthy) {
				b.passed(fmt.Sprintf("The sandbox %s is healthy.", short(s.id)), map[string]any{"status": word, "host": now.Config.Hostname})
				return nil
			}
			b.going(fmt.Sprintf("The sandbox runs and is not ready yet: %s.", word), map[string]any{"status": word})
		}
		select {
		case <-time.After(look):
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), context.Canceled) {
				return late(ctx, "The start of the sandbox was given up.")
			}
			return environment.NewError(environment.KindTimeout, environment.CodeStartFailed,
				fmt.Sprintf("The sandbox did not become healthy within its startup time: its health check says %q.", word)).
				Remedy("Allow more startup time, or look at the health check of the image.").With("status", word).Because(context.Cause(ctx))
		}
	}
}

// health is the engine's word, cleaned; "starting" while there is none.
func health(state *container.State) string {
	if state.Health == nil || state.Health.Status == "" || state.Health.Status == container.NoHealthcheck {
		return "starting"
	}
	return clean(string(state.Health.Status))
}

// stays sees to it that a container does not end within a short time.
func (s *sandbox) stays(ctx context.Context, look time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, look)
	defer cancel()
	wait := s.ContainerWait(limited, s.id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case <-wait.Result:
	case err := <-wait.Error:
		_ = err // mostly that the time is over; the look below tells the rest
	}
	now, err := s.inspect(ctx)
	if err == nil && !now.State.Running {
		return s.ended(now.State)
	}
	return err
}

// ended is the error of a sandbox that ended while it was needed.
func (s *sandbox) ended(state *container.State) error {
	e := environment.Unavailable(environment.CodeStartFailed, fmt.Sprintf("The sandbox %s ended by itself with exit code %d.", short(s.id), state.ExitCode)).
		With("exitCode", state.ExitCode)
	switch {
	case state.OOMKilled:
		return e.Remedy("It needs more memory than its limit allows.")
	case state.ExitCode == 127 || state.ExitCode == 126:
		return e.Remedy("The image has no /bin/sh that this machine can execute: choose one that has, for this platform.")
	}
	return e
}

// furnish makes the workspace a folder that everybody in the sandbox may write to,
// for an image whose user is not root.
func (s *sandbox) furnish(ctx context.Context) error {
	var content bytes.Buffer
	w := tar.NewWriter(&content)
	dir := s.config.workspace()
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: path.Base(dir) + "/", Mode: 0o1777, ModTime: time.Now()})
	if err = errors.Join(err, w.Close()); err != nil {
		return fmt.Errorf("write the workspace's entry: %w", err)
	}
	limited, cancel := s.call(ctx)
	defer cancel()
	if _, err := s.CopyToContainer(limited, s.id, client.CopyToContainerOptions{DestinationPath: path.Dir(dir), Content: &content}); err != nil {
		return s.explain(ctx, err, environment.CodeStartFailed, "make the workspace "+dir)
	}
	return nil
}

// unlock lets everybody write to the folders of a read-only sandbox that are in
// memory: they have the owner and the mode of what they lie over.
func (s *sandbox) unlock(ctx context.Context) error {
	limited, cancel := s.call(ctx)
	defer cancel()
	x, err := s.run(limited, client.ExecCreateOptions{Cmd: []string{"chmod", "1777", s.config.workspace(), "/tmp"}, User: "0"})
	if err != nil {
		return err
	}
	_, code, err := x.read(limited, 1)
	if err == nil && code != 0 {
		err = environment.Unavailable(environment.CodeStartFailed, fmt.Sprintf("The workspace %s cannot be made writable for the user %q.", s.config.workspace(), s.config.User)).
			Remedy("Use an image with the program chmod, or a root that can be written to.")
	}
	return err
}
