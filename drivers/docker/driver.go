// Package docker is the sandbox provider over Docker's engine API, which Podman
// speaks too.
package docker

import (
	_ "github.com/containerd/errdefs"
	_ "github.com/moby/moby/api/pkg/stdcopy"
	_ "github.com/moby/moby/api/types/container"
	_ "github.com/moby/moby/client"
)
