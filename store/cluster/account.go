package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the ordinary user that runs PostgreSQL when Berth runs as root,
// which PostgreSQL refuses.
type account struct {
	name     string
	uid, gid uint32
}

// ordinaryUser is postgres where there is one, else nobody; nil when this
// process is an ordinary user itself.
func ordinaryUser() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uerr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gerr := strconv.ParseUint(u.Gid, 10, 32)
		if uerr == nil && gerr == nil && uid != 0 {
			return &account{name: name, uid: uint32(uid), gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody to run it: add a user postgres")
}

// attributes are those of a process of the account, in a session of its own:
// Ctrl-C in the terminal is for the server, which then stops it in order.
func (a *account) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if a != nil {
		attr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
	return attr
}

// own gives a file or folder to the account.
func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	if err := os.Chown(path, int(a.uid), int(a.gid)); err != nil {
		return fmt.Errorf("give %s to the user %s: %w", path, a.name, err)
	}
	return nil
}

// ownAll gives a folder and all in it to the account.
func (a *account) ownAll(root string) error {
	if a == nil {
		return nil
	}
	return filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := os.Lchown(path, int(a.uid), int(a.gid)); err != nil {
			return fmt.Errorf("give %s to the user %s: %w", path, a.name, err)
		}
		return nil
	})
}

// reaches reports, as an error that names it, the folder above which keeps the
// account out.
func (a *account) reaches(dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		var st syscall.Stat_t
		if err := syscall.Stat(dir, &st); err != nil {
			return fmt.Errorf("look at %s: %w", dir, err)
		}
		bit := uint32(0o001)
		switch {
		case st.Uid == a.uid:
			bit = 0o100
		case st.Gid == a.gid:
			bit = 0o010
		}
		if uint32(st.Mode)&bit == 0 {
			return fmt.Errorf("the user %s, who runs the private PostgreSQL, may not pass through %s: choose a data folder elsewhere or allow it with chmod o+x", a.name, dir)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}
