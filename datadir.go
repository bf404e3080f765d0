package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"berth/handlers/cli"
)

// dataDir returns the data folder of a server, absolute.
func dataDir(o cli.ServeOptions) (string, error) {
	dir := o.DataDir
	if dir == "" {
		var err error
		if dir, err = defaultDataDir(o.Getenv, os.Geteuid()); err != nil {
			return "", err
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the data folder: %w", err)
	}
	return dir, nil
}

func defaultDataDir(getenv func(string) string, uid int) (string, error) {
	if uid == 0 {
		return "/var/lib/berth", nil
	}
	if data := getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return filepath.Join(data, "berth"), nil
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "share", "berth"), nil
	}
	return "", errors.New("there is no home folder for the data: give --data-dir")
}

func keysetPath(o cli.ServeOptions, dir string) string {
	if o.Keyset != "" {
		return o.Keyset
	}
	return filepath.Join(dir, "keyset.json")
}
