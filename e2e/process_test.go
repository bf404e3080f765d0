package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// process is one entry of /proc.
type process struct {
	pid, parent int
	name        string
	command     string
}

func processes(t *testing.T) []process {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var all []process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it ended
		}
		command, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err != nil {
			continue
		}
		open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
		fields := strings.Fields(string(stat[end+1:]))
		if len(fields) < 2 || fields[0] == "Z" {
			continue
		}
		parent, err := strconv.Atoi(fields[1])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, process{pid, parent, string(stat[open+1 : end]), strings.ReplaceAll(string(command), "\x00", " ")})
	}
	return all
}

// running counts the processes whose command line is exactly this.
func running(t *testing.T, command string) int {
	t.Helper()
	n := 0
	for _, p := range processes(t) {
		if strings.TrimSpace(p.command) == command {
			n++
		}
	}
	return n
}
