package ssh

import (
	"strconv"
	"strings"
	"time"

	"berth/environment"
)

// facts are a script's answers, read.
type facts struct {
	user, home, path, login string
	clock                   *int64 // the target's seconds since 1970
	clockAt                 time.Time
	system, host, machine   string
	boot                    string
	libc, libcVersion       string
	distro                  string
	dir                     string
	dirError                *string // why the workspace is not there
	writable                *bool
	freeKB                  *int64
	missing, noexec, tools  []string
	toolsDone               bool
}

// take reads one answer.
func (f *facts) take(a answer) {
	switch a.key {
	case "user":
		f.user = a.value
	case "home":
		f.home = a.value
	case "path":
		f.path = a.value
	case "login":
		f.login = a.value
	case "time":
		if n, err := strconv.ParseInt(a.value, 10, 64); err == nil {
			f.clock, f.clockAt = &n, a.at
		}
	case "kernel":
		words := append(strings.Fields(a.value), "", "", "")
		f.system, f.host, f.machine = words[0], words[1], words[2]
	case "host":
		f.host = a.value
	case "boot":
		f.boot = a.value
	case "libc":
		f.libc, f.libcVersion, _ = strings.Cut(strings.TrimSpace(a.value), " ")
	case "distro":
		f.distro = strings.Trim(a.value, `"' `)
	case "dir":
		f.dir = a.value
	case "nodir":
		f.dirError = &a.value
	case "writable":
		yes := a.value == "yes"
		f.writable = &yes
	case "free":
		if n, err := strconv.ParseInt(a.value, 10, 64); err == nil {
			f.freeKB = &n
		}
	case "tool":
		f.tool(a.value)
	case "tools":
		f.toolsDone = true
	}
}

func (f *facts) tool(value string) {
	verdict, name, _ := strings.Cut(value, " ")
	f.tools = append(f.tools, name)
	switch verdict {
	case "missing":
		f.missing = append(f.missing, name)
	case "noexec":
		f.noexec = append(f.noexec, name)
	}
}

// hostFacts prove which machine answered.
func (f *facts) hostFacts() environment.HostFacts {
	return environment.HostFacts{Name: f.host, BootID: f.boot}
}
