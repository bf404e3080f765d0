package enginetest

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// archive is the content of an image. The first error stays.
type archive struct {
	buffer bytes.Buffer
	tar    *tar.Writer
	made   map[string]bool
	err    error
}

func newArchive() *archive {
	a := &archive{made: map[string]bool{}}
	a.tar = tar.NewWriter(&a.buffer)
	return a
}

func (a *archive) close() ([]byte, error) {
	if a.err != nil {
		return nil, a.err
	}
	if err := a.tar.Close(); err != nil {
		return nil, fmt.Errorf("end the archive: %w", err)
	}
	return a.buffer.Bytes(), nil
}

func (a *archive) add(h *tar.Header, content []byte) {
	if h.Typeflag != tar.TypeDir && path.Dir(h.Name) != "." {
		a.dir(path.Dir(h.Name), 0o755, 0)
	}
	if a.err != nil || a.made[h.Name] {
		return
	}
	a.made[h.Name] = true
	h.Size, h.ModTime = int64(len(content)), time.Unix(0, 0) // the same content is the same image
	if a.err = a.tar.WriteHeader(h); a.err == nil {
		_, a.err = a.tar.Write(content)
	}
}

func (a *archive) dir(name string, mode int64, owner int) {
	if up := path.Dir(name); up != "." && !a.made[up] {
		a.dir(up, 0o755, 0)
	}
	a.add(&tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: mode, Uid: owner, Gid: owner}, nil)
}

func (a *archive) file(name string, mode int64, content []byte) {
	a.add(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode}, content)
}

func (a *archive) link(name, to string) {
	a.add(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to, Mode: 0o777}, nil)
}

// copy puts a file of this machine there.
func (a *archive) copy(name, from string, mode int64) {
	content, err := os.ReadFile(from)
	if err != nil {
		a.err = errors.Join(a.err, err)
		return
	}
	a.file(name, mode, content)
}

// program puts a program of this machine there, with its loader and libraries.
func (a *archive) program(name, from string) {
	a.copy(name, from, 0o755)
	libraries, err := librariesOf(from)
	if err != nil {
		a.err = errors.Join(a.err, err)
	}
	for at, file := range libraries {
		a.copy(at[1:], file, 0o755)
	}
}

// librariesOf finds the loader and the libraries of a program: where they are
// looked for, and where they are.
func librariesOf(program string) (map[string]string, error) {
	found := map[string]string{}
	for queue := []string{program}; len(queue) > 0; queue = queue[1:] {
		f, err := elf.Open(queue[0])
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", queue[0], err)
		}
		needed, err := f.ImportedLibraries()
		if err == nil {
			if s := f.Section(".interp"); s != nil {
				var loader []byte
				loader, err = s.Data()
				at := strings.TrimRight(string(loader), "\x00")
				found[at] = at
			}
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("read the libraries of %s: %w", queue[0], err)
		}
		for _, name := range needed {
			file := library(name)
			if file == "" {
				return nil, fmt.Errorf("%s needs %s, which is not on this machine", program, name)
			}
			if at := "/lib/" + name; found[at] == "" && !strings.HasPrefix(name, "ld-") {
				found[at] = file
				queue = append(queue, file)
			}
		}
	}
	return found, nil
}

// machine is what this architecture is called in file names.
func machine() string {
	if runtime.GOARCH == "arm64" {
		return "aarch64"
	}
	return "x86_64"
}

func library(name string) string {
	triplet := machine() + "-linux-gnu"
	for _, dir := range []string{"/lib/" + triplet, "/usr/lib/" + triplet, "/lib64", "/usr/lib64", "/lib", "/usr/lib"} {
		if file := filepath.Join(dir, name); exists(file) {
			return file
		}
	}
	return ""
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// tools are Busybox's, with users, a home and /tmp.
func tools(a *archive) {
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		a.err = fmt.Errorf("find busybox (package busybox-static): %w", err)
		return
	}
	applets, err := exec.Command(busybox, "--list").Output()
	if err != nil {
		a.err = fmt.Errorf("ask busybox for its tools: %w", err)
		return
	}
	a.base()
	a.copy("bin/busybox", busybox, 0o755)
	for _, applet := range strings.Fields(string(applets)) {
		a.link("bin/"+applet, "busybox")
	}
}

func (a *archive) base() {
	a.file("etc/passwd", 0o644, []byte("root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000:agent:/home/agent:/bin/sh\n"))
	a.file("etc/group", 0o644, []byte("root:x:0:\nagent:x:1000:\n"))
	a.dir("root", 0o700, 0)
	a.dir("home/agent", 0o755, 1000)
	a.dir("tmp", 0o1777, 0)
	for _, dir := range []string{"proc", "sys", "dev", "usr/bin"} {
		a.dir(dir, 0o755, 0)
	}
}

func musl(a *archive) {
	tools(a)
	loader := "/lib/ld-musl-" + machine() + ".so.1"
	a.copy(loader[1:], loader, 0o755)
	a.file("usr/bin/ldd", 0o755, []byte("#!/bin/sh\nexec "+loader+" --list \"$@\"\n"))
}

func glibc(a *archive) {
	a.program("usr/bin/getconf", "/usr/bin/getconf")
	a.program("bin/bash", "/bin/bash")
	a.copy("usr/bin/ldd", "/usr/bin/ldd", 0o755)
	a.program("bin/dash", "/bin/dash")
	a.link("bin/sh", "dash")
	tools(a) // what is there stays
}

func sleepOnly(a *archive) {
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		a.err = fmt.Errorf("find busybox (package busybox-static): %w", err)
		return
	}
	a.copy("bin/sleep", busybox, 0o755)
}
