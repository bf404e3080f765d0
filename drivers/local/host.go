package local

import (
	"context"
	"os"
	"os/user"
	"strconv"
	"strings"

	"berth/drivers/shell"
	"berth/environment"
)

const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// cleanEnv is the whole environment of a run: who the user is by the system's
// own book, and nothing of the server's. Without a home the workspace is it.
func cleanEnv(dir string) []string {
	name, home := strconv.Itoa(os.Getuid()), dir
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
		if u.HomeDir != "" {
			home = u.HomeDir
		}
	}
	return []string{"PATH=" + searchPath, "HOME=" + home, "USER=" + name, "LANG=C.UTF-8"}
}

// hostScript prints the host name and the boot id, a line each.
const hostScript = `uname -n
cat /proc/sys/kernel/random/boot_id 2>/dev/null || sysctl -n kern.bootsessionuuid 2>/dev/null || echo`

// host reads what this machine says of itself, as the supervisor reads it on any
// target.
func (d *Driver) host(ctx context.Context) (environment.HostFacts, error) {
	name, err1 := os.ReadFile("/proc/sys/kernel/hostname")
	boot, err2 := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err1 == nil && err2 == nil {
		return environment.HostFacts{Name: strings.TrimSpace(string(name)), BootID: strings.TrimSpace(string(boot))}, nil
	}
	answer, err := shell.Ask(ctx, d.open, hostScript)
	if err != nil {
		return environment.HostFacts{}, err
	}
	first, second, _ := strings.Cut(strings.TrimSpace(string(answer)), "\n")
	return environment.HostFacts{Name: strings.TrimSpace(first), BootID: strings.TrimSpace(second)}, nil
}
