package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"berth/environment"

	"github.com/containerd/errdefs"
	"github.com/google/uuid"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// Labels of Berth's own.
const (
	labelPrefix      = "berth."
	labelInstance    = "berth.instance"
	labelLease       = "berth.lease"
	labelEnvironment = "berth.environment"
	labelCompany     = "berth.company"
	labelOwner       = "berth.owner"
	// An image has other labels than a container: a container inherits them.
	labelImageInstance = "berth.image.instance"
	labelImageKey      = "berth.image.key"
)

// sandbox is a container of ours on its engine.
type sandbox struct {
	*engine
	config   config
	spec     environment.Spec
	id       string    // the engine's, or a name of it; "" when only the labels are known
	lease    string    // label
	instance uuid.UUID // label
}

// nameOf is the container's name for a lease.
func nameOf(lease string) string { return "berth-" + lease }

// sandboxOf opens the engine of a Ref.
func (d *Driver) sandboxOf(ctx context.Context, ref environment.Ref) (*sandbox, error) {
	raw := ref.Config
	if len(raw) == 0 || string(raw) == "null" {
		raw = ref.Spec.Config
	}
	c, err := readConfig(raw)
	if err != nil {
		return nil, err
	}
	e, err := d.engine(ctx, c, ref.Spec)
	if err != nil {
		return nil, err
	}
	s := &sandbox{engine: e, config: c, spec: ref.Spec, id: ref.ProviderID, lease: ref.LeaseKey, instance: ref.InstanceID}
	if s.lease == "" {
		s.lease = ref.Spec.IdempotencyKey
	}
	if s.instance == uuid.Nil {
		s.instance = ref.Spec.InstanceID
	}
	if s.lease == "" || s.instance == uuid.Nil {
		return nil, unlabelled()
	}
	return s, nil
}

func unlabelled() error {
	return environment.NewError(environment.KindInternal, "internal", "A sandbox needs a lease and an installation to belong to.")
}

// inspect reads the container and checks that it is ours. KindNotFound
// sandbox_gone when there is none, KindConflict sandbox_mismatch when it is
// somebody else's.
func (s *sandbox) inspect(ctx context.Context) (container.InspectResponse, error) {
	limited, cancel := s.call(ctx)
	defer cancel()
	r, err := s.ContainerInspect(limited, s.id, client.ContainerInspectOptions{})
	if errdefs.IsNotFound(err) {
		return r.Container, s.gone()
	}
	if err != nil {
		return r.Container, s.explain(ctx, err, environment.CodeEngineUnreachable, "tell about the sandbox")
	}
	if r.Container.Config == nil || r.Container.State == nil || r.Container.ID == "" {
		return r.Container, environment.Unavailable(environment.CodeEngineUnreachable, fmt.Sprintf("The engine at %s gave half an answer about the sandbox.", s.at.shown()))
	}
	if !s.owns(r.Container.Config.Labels) {
		return r.Container, environment.Conflict(environment.CodeSandboxMismatch,
			fmt.Sprintf("The container %s on %s does not carry this lease's labels, so it is left alone.", short(s.id), s.at.shown()))
	}
	return r.Container, nil
}

// owns reports whether labels are those of the sandbox.
func (s *sandbox) owns(labels map[string]string) bool {
	return labels[labelInstance] == s.instance.String() && labels[labelLease] == s.lease
}

func (s *sandbox) gone() error {
	return environment.NewError(environment.KindNotFound, environment.CodeSandboxGone,
		fmt.Sprintf("The sandbox %s does not exist on the engine at %s any more.", short(s.id), s.at.shown()))
}

// find looks for the container by its labels and sets its id; false when there is
// none.
func (s *sandbox) find(ctx context.Context) (bool, error) {
	found, err := s.held(ctx, s.instance, labelLease+"="+s.lease)
	if err != nil || len(found) == 0 {
		return false, err
	}
	s.id = found[0].ID
	return true, nil
}

// held lists the containers of an installation, stopped or not, with more labels
// where they are given.
func (e *engine) held(ctx context.Context, instance uuid.UUID, more ...string) ([]container.Summary, error) {
	limited, cancel := e.call(ctx)
	defer cancel()
	filters := client.Filters{}.Add("label", append(more, labelInstance+"="+instance.String())...)
	r, err := e.ContainerList(limited, client.ContainerListOptions{All: true, Filters: filters})
	if err != nil {
		return nil, e.explain(ctx, err, environment.CodeEngineUnreachable, "list the sandboxes")
	}
	ours := r.Items[:0]
	for _, c := range r.Items {
		if c.Labels[labelInstance] == instance.String() && !e.inherits(limited, c) { // whatever the engine makes of the filter
			ours = append(ours, c)
		}
	}
	return ours, nil
}

// inherits reports whether a container has our labels from its image alone: who
// commits a sandbox by hand, and starts something from that, gets all of them. Its
// name tells it from a sandbox first, which costs nothing.
func (e *engine) inherits(ctx context.Context, c container.Summary) bool {
	lease := c.Labels[labelLease]
	if slices.Contains(c.Names, "/"+nameOf(lease)) {
		return false
	}
	image, err := e.ImageInspect(ctx, c.ImageID)
	return err == nil && image.Config != nil && image.Config.Labels[labelLease] == lease
}

// short is an id as people know it.
func short(id string) string {
	if len(id) == 64 {
		return id[:12]
	}
	return id
}

// refOf is what is needed to use the sandbox and to end it later.
func (s *sandbox) refOf(c container.InspectResponse, raw json.RawMessage, image *environment.ImageIdentity) environment.Ref {
	return environment.Ref{
		Driver: environment.DriverSandbox, Provider: environment.ProviderDocker, ProviderID: c.ID, Dir: s.config.workspace(),
		Host: environment.HostFacts{Name: c.Config.Hostname, BootID: c.ID}, Config: raw, ProviderVersion: s.version(),
		LeaseKey: s.lease, InstanceID: s.instance, Image: image, Spec: s.spec,
		Metadata: map[string]string{"name": nameOf(s.lease), "engine": s.at.String()},
	}
}
