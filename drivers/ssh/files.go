package ssh

import (
	"context"
	"errors"
	"fmt"
	"path"

	"berth/environment"

	"github.com/pkg/sftp"
)

// maxLinks is how many symbolic links may lie on the way to a file.
const maxLinks = 40

// Read lists a folder of the workspace or reads a file, over SFTP on a pooled
// connection. KindForbidden path_escapes for a way out, by ".." or by a link;
// KindNotFound file_not_found; KindUnsupported sftp_unavailable for a server
// without SFTP; KindInvalid not_a_file for pipes, sockets and devices.
func (d *Driver) Read(ctx context.Context, ref environment.Ref, name string) (environment.WorkspaceEntry, error) {
	p, err := planOf(ref)
	if err != nil {
		return environment.WorkspaceEntry{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.limits.Total)
	defer cancel()
	client, done, err := d.sftp(ctx, p)
	if err != nil {
		return environment.WorkspaceEntry{}, err
	}
	defer done()
	w := &workspace{client: client, shown: path.Clean("/" + name)[1:]}
	entry, err := w.read(ctx, ref.Dir, name)
	if err != nil && ctx.Err() != nil {
		return environment.WorkspaceEntry{}, timedOut("workspace", p.target(), 0, err)
	}
	return entry, err
}

// sftp starts the server's SFTP subsystem. done ends it.
func (d *Driver) sftp(ctx context.Context, p *plan) (*sftp.Client, func(), error) {
	channel, _, release, err := d.channel(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = channel.Close() })
	done := func() {
		stop()
		_ = channel.Close() // the server may have closed it
		release()
	}
	stdin, errIn := channel.StdinPipe()
	stdout, errOut := channel.StdoutPipe()
	if err = errors.Join(errIn, errOut); err == nil {
		err = channel.RequestSubsystem("sftp")
	}
	if err != nil {
		done()
		return nil, nil, noSFTP(p, err)
	}
	client, err := sftp.NewClientPipe(stdout, stdin)
	if err != nil {
		done()
		return nil, nil, noSFTP(p, err)
	}
	return client, func() {
		_ = client.Close()
		done()
	}, nil
}

func noSFTP(p *plan, cause error) error {
	return environment.NewError(environment.KindUnsupported, "sftp_unavailable",
		fmt.Sprintf("%s has no SFTP, so its files cannot be shown.", p.target().capital())).
		Remedy("Add a Subsystem sftp line to the server's sshd_config.").Because(cause)
}
