package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"berth/drivers/shell"
	"berth/drivers/supervisor"
	"berth/environment"

	"github.com/moby/moby/client"
)

// codeSandboxStopped is that of a sandbox that exists and does not run.
const codeSandboxStopped = "sandbox_stopped"

// Exec runs a command under the supervisor in the sandbox. A connection that
// breaks is made again until the grace is over, also to an engine that was
// restarted meanwhile; a sandbox that is gone or stopped ends that at once, as
// nothing of the command can be left: KindUnavailable connection_lost, with the
// detail "sandbox" ("gone" or "stopped").
func (d *Driver) Exec(ctx context.Context, ref environment.Ref, e environment.Exec) (environment.ExecResult, error) {
	asked := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var end ending
	open := func(ctx context.Context) (shell.Session, error) {
		s, err := d.session(ctx, ref)
		if err == nil {
			return s, nil
		}
		if end.is(err) {
			cancel(environment.ErrDetach) // there is nothing to come back to
		}
		return nil, err
	}
	told := e.OnStart
	e.OnStart = func(p environment.Process, h environment.HostFacts, dir string) error {
		if told == nil {
			return nil
		}
		h.BootID = ref.ProviderID // the kernel's is that of the engine's machine
		return told(p, h, dir)
	}
	result, err := supervisor.Exec(ctx, open, ref, e)
	if environment.CodeOf(err) == environment.CodeShellUnusable { // or the sandbox ended under it
		if s, lost := d.sandboxOf(asked, ref); lost == nil && s.stays(asked, noticed) != nil && end.is(s.stopped(asked)) {
			return environment.ExecResult{}, end.error()
		}
	}
	if over := end.error(); over != nil && errors.Is(err, environment.ErrDetach) {
		return environment.ExecResult{}, over
	}
	return result, err
}

// session opens a shell in the sandbox of a Ref.
func (d *Driver) session(ctx context.Context, ref environment.Ref) (*session, error) {
	s, err := d.sandboxOf(ctx, ref)
	if err != nil {
		return nil, err
	}
	return s.run(ctx, client.ExecCreateOptions{Cmd: []string{"/bin/sh", "-c", shell.Command}, AttachStdin: true})
}

// ending is why no session will come any more.
type ending struct {
	mu  sync.Mutex
	err *environment.Error
}

// is notes an error that is an end, and reports whether it is one.
func (n *ending) is(err error) bool {
	e, ours := errors.AsType[*environment.Error](err)
	if !ours || e.Code != environment.CodeSandboxGone && e.Code != codeSandboxStopped {
		return false
	}
	word := strings.TrimPrefix(e.Code, "sandbox_")
	n.mu.Lock()
	defer n.mu.Unlock()
	n.err = environment.Unavailable(environment.CodeConnectionLost, "The command cannot go on: "+lowerFirst(e.Message)).
		Remedy(e.Remediation).With("sandbox", word).Because(err)
	return true
}

func (n *ending) error() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err == nil {
		return nil
	}
	return n.err
}

func lowerFirst(text string) string {
	if text == "" {
		return text
	}
	return strings.ToLower(text[:1]) + text[1:]
}

// stopped reports whether an engine's refusal is that the container does not run.
func stopped(err error) bool {
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "is not running") || strings.Contains(text, "container state improper")
}

// stopped says how a sandbox that does not run ended.
func (s *sandbox) stopped(ctx context.Context) error {
	now, err := s.inspect(ctx)
	switch {
	case environment.CodeOf(err) == environment.CodeSandboxGone:
		return err
	case err != nil:
		return s.explain(ctx, err, environment.CodeEngineUnreachable, "tell about the sandbox")
	case now.State.Running:
		return environment.Unavailable(environment.CodeShellUnusable, fmt.Sprintf("The sandbox %s takes no commands now.", short(s.id)))
	}
	e := environment.Conflict(codeSandboxStopped, fmt.Sprintf("The sandbox %s does not run: it ended with exit code %d.", short(s.id), now.State.ExitCode))
	switch {
	case now.State.OOMKilled:
		return e.Remedy("It needs more memory than its limit allows.")
	case now.State.ExitCode == 127 || now.State.ExitCode == 126:
		return e.Remedy("The image has no /bin/sh that this machine can execute: choose one that has, for this platform.")
	}
	return e.Remedy("Somebody stopped it, or its engine was restarted.")
}
