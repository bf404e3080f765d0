package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"berth/environment"
)

// HasData reports whether there is a cluster in a data folder. KindForbidden with
// code data_dir_denied when this user may not look.
func HasData(dataDir string) (bool, error) {
	_, err := os.Stat(filepath.Join(dataDir, "postgres", "PG_VERSION"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case errors.Is(err, fs.ErrPermission):
		return false, environment.NewError(environment.KindForbidden, "data_dir_denied", "You may not look into "+dataDir+".").
			Remedy("Run this as the user who runs the server.")
	}
	return err == nil, err
}

// ForThisUser refuses, to root, a data folder whose cluster an ordinary user runs:
// what root did there would be root's, and that user's server would not start any
// more. KindForbidden with code data_dir_of_another_user.
func ForThisUser(dataDir string) error {
	account, err := ordinaryUser()
	if err != nil || account == nil {
		return err
	}
	for _, path := range []string{filepath.Join(dataDir, "postgres"), dataDir} {
		var st syscall.Stat_t
		if err := syscall.Stat(path, &st); err != nil {
			continue // what is not there belongs to nobody
		}
		if st.Uid == 0 || st.Uid == account.uid {
			return nil
		}
		name := strconv.FormatUint(uint64(st.Uid), 10)
		if u, err := user.LookupId(name); err == nil {
			name = u.Username
		}
		return environment.NewError(environment.KindForbidden, "data_dir_of_another_user", path+" belongs to the user "+name+", who runs the server.").
			Remedy("Run this as that user: sudo -u " + name + " berth ...")
	}
	return nil
}

// Running returns the URL of the cluster of a data folder that another process
// runs; false when none takes connections there.
func Running(ctx context.Context, dataDir string) (string, bool, error) {
	data := filepath.Join(dataDir, "postgres")
	f := readPidFile(data)
	if f.status != "ready" || f.socket == "" || !runs(f.pid) || !isPostmaster(ctx, f.pid, data) {
		return "", false, nil
	}
	password, err := os.ReadFile(filepath.Join(dataDir, "postgres.password"))
	if err != nil {
		return "", false, fmt.Errorf("read the password of the private PostgreSQL: %w", err)
	}
	return socketURL(f.socket, strings.TrimSpace(string(password))), true, nil
}

func socketURL(socket, password string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(role, password), Host: "", Path: "/" + database,
		RawQuery: url.Values{"host": {socket}, "sslmode": {"disable"}}.Encode()}
	return u.String()
}

// Remove deletes the cluster of a data folder in which nothing runs. The caller
// holds the folder's lock.
func Remove(dataDir string) error {
	err := os.Remove(filepath.Join(dataDir, "postgres.password"))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(filepath.Join(dataDir, "postgres")))
}
