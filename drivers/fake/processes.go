package fake

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// mark is the variable by which what runs in a sandbox is found.
const mark = "BERTH_FAKE_SANDBOX"

// end kills what runs in a sandbox and returns when nothing is left.
func end(folder, id string) error {
	if _, err := os.Stat(filepath.Join(folder, usedFile)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return kill(mark + "=" + id)
}

// kill ends every process that has the variable.
func kill(variable string) error {
	deadline := time.Now().Add(10 * time.Second)
	for pids := with(variable); len(pids) > 0; pids = with(variable) {
		if time.Now().After(deadline) {
			return fmt.Errorf("end what runs in a fake sandbox: %d processes stay", len(pids))
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may just have ended
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// with lists the processes whose environment has a variable.
func with(variable string) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is good
	var pids []int
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+variable+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(strings.Split(file, "/")[2]); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}
