package fake

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"berth/drivers/shell"
	"berth/drivers/supervisor"
	"berth/environment"
)

const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// lookAgain is the time between two looks whether the sandbox is still there.
const lookAgain = 50 * time.Millisecond

// Exec runs a command in a sandbox under the supervisor. It ends with sandbox_gone
// when the sandbox vanishes.
func (d *Driver) Exec(ctx context.Context, ref environment.Ref, e environment.Exec) (environment.ExecResult, error) {
	s, err := d.live(ref)
	if err != nil {
		return environment.ExecResult{}, err
	}
	k, err := d.step(ctx, ref, "exec")
	if err != nil {
		return environment.ExecResult{}, err
	}
	folder := d.world.folderOf(s.ID)
	if err := d.world.use(s.ID); err != nil {
		return environment.ExecResult{}, gone(s.ID)
	}
	e.Argv = k.command(e.Argv)
	if told := e.OnStart; told != nil {
		e.OnStart = func(p environment.Process, _ environment.HostFacts, dir string) error { return told(p, ref.Host, dir) }
	}
	work, letGo := context.WithCancelCause(ctx)
	var vanished atomic.Bool
	var watching sync.WaitGroup
	watching.Go(func() {
		if k.lose && wait(work, k.delay) == nil {
			if err := d.world.destroy(s.ID); err != nil {
				d.opts.Log.WarnContext(ctx, "a fake sandbox does not vanish", "sandbox", s.ID, "error", err)
			}
		}
		for wait(work, lookAgain) == nil {
			if _, err := os.Stat(folder); os.IsNotExist(err) {
				vanished.Store(true)
				letGo(environment.ErrDetach) // nothing is there to be ended
				return
			}
		}
	})
	result, err := supervisor.Exec(work, d.opener(s.ID), ref, e)
	letGo(nil)
	watching.Wait()
	if vanished.Load() {
		return environment.ExecResult{}, gone(s.ID)
	}
	if err == nil && k.loseAnswer {
		return environment.ExecResult{}, lost("exec")
	}
	return result, err
}

// command is what is run in place of a command.
func (k knobs) command(argv []string) []string {
	if k.echo {
		argv = append([]string{"printf", `%s\n`}, argv...)
	}
	if k.big > 0 {
		argv = append([]string{"/bin/sh", "-c", fmt.Sprintf(`head -c %d /dev/zero | tr '\0' x; exec "$@"`, k.big), "sh"}, argv...)
	}
	return argv
}

// opener opens shells in a sandbox while it is there.
func (d *Driver) opener(id string) shell.Opener {
	open := shell.Process("/bin/sh", d.env(id))
	return func(ctx context.Context) (shell.Session, error) {
		if _, err := os.Stat(d.world.folderOf(id)); err != nil {
			return nil, gone(id)
		}
		return open(ctx)
	}
}

// env is the whole environment of what runs in a sandbox.
func (d *Driver) env(id string) []string {
	name := strconv.Itoa(os.Getuid())
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	return []string{"PATH=" + searchPath, "HOME=" + filepath.Join(d.world.folderOf(id), "home"), "USER=" + name, "LANG=C.UTF-8", mark + "=" + id}
}
