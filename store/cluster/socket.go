package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxSocketPath is the longest path of a socket that every system takes, with
// room for PostgreSQL's lock file beside it.
const maxSocketPath = 100

const socketName = ".s.PGSQL.5432"

// socketDir returns the folder of the socket: in the data folder, or, where
// that would make its path too long, one of the cluster's own under the
// temporary folder.
func (p place) socketDir(temp string) (string, error) {
	dir := filepath.Join(p.root, "socket")
	if fits(dir) {
		return dir, p.makeSocketDir(dir)
	}
	sum := sha256.Sum256([]byte(p.root))
	name := "berth-" + hex.EncodeToString(sum[:6])
	for _, parent := range []string{temp, "/tmp"} {
		if dir := filepath.Join(parent, name); fits(dir) {
			return dir, p.makeSocketDir(dir)
		}
	}
	return "", fmt.Errorf("no folder is short enough for a socket: %s", temp)
}

func fits(dir string) bool { return len(filepath.Join(dir, socketName)) <= maxSocketPath }

// makeSocketDir makes the folder, for the cluster's user only. A folder of that
// name that somebody else made, in a place where everybody may, is refused.
func (p place) makeSocketDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	switch {
	case err == nil:
		return p.account.own(dir)
	case !errors.Is(err, fs.ErrExist):
		return fmt.Errorf("make the folder of the socket: %w", err)
	}
	var st syscall.Stat_t
	if err := syscall.Lstat(dir, &st); err != nil {
		return fmt.Errorf("look at the folder of the socket: %w", err)
	}
	owner := uint32(os.Geteuid())
	if p.account != nil {
		owner = p.account.uid
	}
	if uint32(st.Mode)&syscall.S_IFMT != syscall.S_IFDIR || st.Uid != owner && st.Uid != uint32(os.Geteuid()) {
		return fmt.Errorf("%s is not the folder of Berth's socket: somebody else made it; remove it", dir)
	}
	return errors.Join(os.Chmod(dir, 0o700), p.account.own(dir))
}

// removeSocketDir removes the folder when it is not in the data folder. One that
// is not empty, because something runs there again, stays.
func (p place) removeSocketDir() {
	if filepath.Dir(p.socket) != p.root {
		_ = os.Remove(p.socket)
	}
}
