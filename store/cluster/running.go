package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// HasData reports whether there is a cluster in a data folder.
func HasData(dataDir string) bool { return dataVersion(filepath.Join(dataDir, "postgres")) != "" }

// Running returns the URL of the cluster of a data folder that another process
// runs; false when none takes connections there.
func Running(dataDir string) (string, bool, error) {
	f := readPidFile(filepath.Join(dataDir, "postgres"))
	if f.status != "ready" || f.socket == "" || !runs(f.pid) {
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
