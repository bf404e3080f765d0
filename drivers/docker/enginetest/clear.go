package enginetest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// prefix begins the name of every folder of this package.
const prefix = "berth-engine-"

// mountDisk mounts an empty disk of a size.
func mountDisk(dir string, mebibytes int) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make the disk's folder: %w", err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", mebibytes)); err != nil {
		return fmt.Errorf("mount a disk of %d MiB: %w", mebibytes, err)
	}
	return nil
}

// clear ends the processes of a folder, unmounts what is mounted below it and
// removes it.
func clear(dir string) error {
	return until(dir+" is removed", 10*time.Second, func() (bool, error) {
		for _, pid := range slices.Concat(processesOf(dir, daemons()...), contained(dir)) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may just have ended
		}
		mounts, err := mountsBelow(dir)
		if err != nil {
			return false, err
		}
		for _, mount := range mounts {
			_ = syscall.Unmount(mount, syscall.MNT_DETACH) // tried again below, until it is gone
		}
		if left, err := mountsBelow(dir); err != nil || len(left) > 0 {
			return false, err
		}
		return os.RemoveAll(dir) == nil, nil
	})
}

func daemons() []string {
	return []string{"dockerd", "containerd", "containerd-shim", "containerd-shim-runc-v2", "conmon", "podman", "runc", "docker-registry"}
}

// processesOf are those of the names with the folder on their command line.
func processesOf(dir string, names ...string) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is fine
	var pids []int
	for _, file := range files {
		line, err := os.ReadFile(file)
		name, _, _ := bytes.Cut(line, []byte{0})
		if err != nil || !slices.Contains(names, filepath.Base(string(name))) || !bytes.Contains(line, []byte(filepath.Base(dir))) {
			continue
		}
		pid, err := strconv.Atoi(strings.Split(file, "/")[2])
		if err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// contained are the processes whose root is in the folder: what a container runs
// outlives a shim that is killed.
func contained(dir string) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/mountinfo") // the pattern is fine
	var pids []int
	for _, file := range files {
		mounts, err := os.ReadFile(file)
		if err != nil {
			continue // it ended
		}
		for line := range strings.Lines(string(mounts)) {
			if fields := strings.Fields(line); len(fields) > 4 && fields[4] == "/" && strings.Contains(line, filepath.Base(dir)+"/") {
				pid, err := strconv.Atoi(strings.Split(file, "/")[2])
				if err == nil && pid != os.Getpid() {
					pids = append(pids, pid)
				}
				break
			}
		}
	}
	return pids
}

// mountsBelow lists what is mounted in a folder, the innermost first.
func mountsBelow(dir string) ([]string, error) {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("list what is mounted: %w", err)
	}
	var found []string
	for line := range strings.Lines(string(b)) {
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[4], dir+"/") {
			found = append(found, fields[4])
		}
	}
	slices.Reverse(found)
	return found, nil
}

// sweep clears what tests left behind that were killed.
func sweep() error {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*")) // the pattern is fine
	var errs []error
	for _, dir := range dirs {
		pid, err := strconv.Atoi(strings.Split(strings.TrimPrefix(filepath.Base(dir), prefix), "-")[0])
		if err != nil || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue // somebody's who is alive
		}
		errs = append(errs, clear(dir))
	}
	return errors.Join(errs...)
}
