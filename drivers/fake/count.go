package fake

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

// Calls returns how often each step of a world was reached, and how many
// sandboxes were "created". A step that was not is 0.
func Calls(dir string) (map[string]int, error) {
	calls := map[string]int{}
	for _, step := range append(Steps(), created) {
		info, err := os.Stat(filepath.Join(dir, "calls", step))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("count the calls of %s: %w", step, err)
		}
		if err == nil {
			calls[step] = int(info.Size())
		}
	}
	return calls, nil
}

// created is counted when a sandbox really was made.
const created = "created"

// count notes a call: a byte for each, which any number of processes can add.
func (w world) count(step string) error {
	name := filepath.Join(w.dir, "calls", step)
	var f *os.File
	if err := makeIn(filepath.Dir(name), func() (err error) {
		f, err = os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		return err
	}); err != nil {
		return fmt.Errorf("count a call: %w", err)
	}
	_, err := f.Write([]byte{'.'})
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("count a call: %w", err)
	}
	return nil
}

// next is the number of this call, from 1, of one environment at a step with
// exactly these words.
func (w world) next(environment, step, text string) (int, error) {
	sum := sha256.Sum256([]byte(environment + "\n" + step + "\n" + text))
	name := filepath.Join(w.dir, "turns", hex.EncodeToString(sum[:12]))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return 0, fmt.Errorf("count a scripted call: %w", err)
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, fmt.Errorf("count a scripted call: %w", err)
	}
	defer func() { _ = f.Close() }() // what it holds is in its size
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return 0, fmt.Errorf("count a scripted call: %w", err)
	}
	if _, err := f.Write([]byte{'.'}); err != nil {
		return 0, fmt.Errorf("count a scripted call: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("count a scripted call: %w", err)
	}
	return int(info.Size()), nil
}
