package docker

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"berth/environment"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// keepAlive holds a sandbox open and ends it at once on TERM.
const keepAlive = `trap 'exit 0' TERM; while :; do sleep 86400 & wait $!; done`

// container is what a sandbox is made from: with no more privileges than it
// needs, no mount of the host's and no way to its engine.
func (s *sandbox) container(image string) client.ContainerCreateOptions {
	c, pids, yes := s.config, cmp.Or(s.config.Pids, defaultPids), true
	o := client.ContainerCreateOptions{
		Name: nameOf(s.lease),
		Config: &container.Config{
			Image: image, User: c.User, WorkingDir: c.workspace(), Env: variables(c.Env), Labels: s.labels(),
			Entrypoint: []string{"/bin/sh", "-c", keepAlive}, Cmd: []string{}, StopSignal: "SIGTERM",
		},
		HostConfig: &container.HostConfig{
			NetworkMode:   container.NetworkMode(cmp.Or(c.Network, defaultNetwork)),
			RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyDisabled},
			CapDrop:       []string{"ALL"}, SecurityOpt: []string{"no-new-privileges"}, Init: &yes,
			ReadonlyRootfs: c.ReadOnlyRoot, Runtime: c.Runtime, ShmSize: c.ShmMiB << 20,
			Resources: container.Resources{NanoCPUs: int64(math.Round(c.CPUs * 1e9)), Memory: c.MemoryMiB << 20, PidsLimit: &pids},
		},
	}
	if c.DiskMiB > 0 {
		o.HostConfig.StorageOpt = map[string]string{"size": fmt.Sprintf("%dM", c.DiskMiB)}
	}
	if c.ReadOnlyRoot { // run folders are under /tmp where the home cannot be written to
		size := cmp.Or(c.WorkspaceMiB, 1024)
		mount := fmt.Sprintf("rw,exec,nosuid,nodev,mode=1777,size=%dm", size)
		o.HostConfig.Tmpfs = map[string]string{"/tmp": mount, c.workspace(): mount}
	}
	if arch, ok := strings.CutPrefix(c.Platform, "linux/"); ok {
		o.Platform = &ocispec.Platform{OS: "linux", Architecture: arch}
	}
	return o
}

func variables(env map[string]string) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}

// labels are the config's and, whatever those or the image's say, ours.
func (s *sandbox) labels() map[string]string {
	all := map[string]string{}
	maps.Copy(all, s.config.Labels)
	all[labelInstance], all[labelLease], all[labelOwner] = s.instance.String(), s.lease, cmp.Or(s.spec.OwnerKind, environment.OwnerTask)
	all[labelEnvironment], all[labelCompany] = s.spec.EnvironmentID.String(), ""
	if s.spec.CompanyID != nil {
		all[labelCompany] = s.spec.CompanyID.String()
	}
	return all
}

// rooted reports whether a container's user is the one that may do everything.
func rooted(user string) bool {
	name, _, _ := strings.Cut(user, ":")
	return name == "" || name == "root" || name == "0"
}
