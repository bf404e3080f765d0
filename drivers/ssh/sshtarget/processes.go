package sshtarget

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// killAll ends every process that carries the target's mark in its environment,
// again until none is left: one may start another in between.
func (t *Target) killAll() {
	const rounds = 100
	t.mu.Lock()
	for leader := range t.leaders {
		_ = syscall.Kill(-leader, syscall.SIGKILL) // it may be gone
	}
	t.mu.Unlock()
	for range rounds {
		pids := t.marked()
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
		}
	}
}

// marked are the processes that carry the mark, zombies not among them: their
// environment is gone. On systems without /proc there are none to be seen.
func (t *Target) marked() []int {
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is fine
	var pids []int
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, env...), append([]byte{0}, t.mark...)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
