package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// ensure makes the cluster's files when there are none, and returns the
// password. A set-up that was interrupted is begun anew.
func (p place) ensure(ctx context.Context, log *slog.Logger, settings []string) (string, error) {
	file := filepath.Join(p.root, "postgres.password")
	if dataVersion(p.data) != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read the password of the private PostgreSQL: %w", err)
		}
		return strings.TrimSpace(string(text)), p.adopt()
	}
	if entries, err := os.ReadDir(p.data); err == nil && len(entries) > 0 {
		return "", fmt.Errorf("%s holds something that is not a PostgreSQL cluster: move it away", p.data)
	}
	password := rand.Text()
	if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keep the password of the private PostgreSQL: %w", err)
	}
	log.Info("setting up a private PostgreSQL", "folder", p.data, "programs", p.bin)
	return password, p.initialise(ctx, password, settings)
}

// adopt gives the cluster to the user that runs it now, when an ordinary user
// ran it before and root starts the server today.
func (p place) adopt() error {
	var st syscall.Stat_t
	if err := syscall.Stat(p.data, &st); err != nil {
		return fmt.Errorf("look at the cluster's folder: %w", err)
	}
	if p.account == nil || st.Uid == p.account.uid {
		return nil
	}
	return p.account.ownAll(p.data)
}

// initialise makes the cluster beside its place and moves it there when it is
// whole.
func (p place) initialise(ctx context.Context, password string, settings []string) error {
	fresh := p.data + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return fmt.Errorf("remove what an interrupted set-up left: %w", err)
	}
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return fmt.Errorf("make the cluster's folder: %w", err)
	}
	if err := p.account.own(fresh); err != nil {
		return err
	}
	passwordFile, err := p.passwordFile(password)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(passwordFile) }()
	data := filepath.Join(fresh, "data")
	args := []string{"-D", data, "-U", role, "--auth=scram-sha-256", "--pwfile=" + passwordFile, "--encoding=UTF8", "--locale=C"}
	if slices.Contains(settings, "fsync=off") {
		args = append(args, "--no-sync")
	}
	if _, err := p.program(ctx, "", "initdb", args...); err != nil {
		return err
	}
	_, err = p.program(ctx, "create database "+database+";\n", "postgres", "--single", "-D", data, "postgres")
	if err != nil {
		return err
	}
	if err := os.Remove(p.data); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("make room for the cluster: %w", err)
	}
	if err := os.Rename(data, p.data); err != nil {
		return fmt.Errorf("put the cluster in its place: %w", err)
	}
	return os.RemoveAll(fresh)
}

// passwordFile hands the password to initdb, which takes it from a file only.
func (p place) passwordFile(password string) (string, error) {
	f, err := os.CreateTemp(p.data+".new", "password-")
	if err != nil {
		return "", fmt.Errorf("hand the password over: %w", err)
	}
	_, err = f.WriteString(password)
	err = errors.Join(err, f.Close(), p.account.own(f.Name()))
	if err != nil {
		return "", fmt.Errorf("hand the password over: %w", err)
	}
	return f.Name(), nil
}

// program runs one of PostgreSQL's programs to its end as the cluster's user.
func (p place) program(ctx context.Context, input, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(p.bin, name), args...)
	cmd.Dir, cmd.Env = "/", programEnv()
	cmd.SysProcAttr = p.account.attributes()
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return out, describe(name, out, err)
	}
	return out, nil
}

// programEnv is all of the server's environment that PostgreSQL sees.
func programEnv() []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"}
}
