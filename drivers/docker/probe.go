package docker

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"berth/environment"

	"github.com/containerd/errdefs"
	"github.com/google/uuid"
	"github.com/moby/moby/client"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// Probe tests an engine and whether it has or can get the image. Nothing is made
// and nothing pulled: only a sandbox proves more.
func (d *Driver) Probe(ctx context.Context, spec environment.Spec, report func(environment.Stage)) environment.ProbeResult {
	b := newBoard(d.now, report)
	b.began("engine")
	result, err := d.probe(ctx, spec, b)
	if err != nil {
		b.failed(err)
		e := environment.AsError(err)
		result.Code, result.Summary = e.Code, e.Message
	}
	result.OK, result.Stages = err == nil, b.result()
	return result
}

func (d *Driver) probe(ctx context.Context, spec environment.Spec, b *board) (environment.ProbeResult, error) {
	var result environment.ProbeResult
	c, err := readConfig(spec.Config)
	if err != nil {
		return result, err
	}
	e, err := d.newEngine(c, spec) // a connection of its own: it sees what a new one sees
	if err != nil {
		return result, err
	}
	defer func() { _ = e.Close() }()
	if err := e.greet(ctx); err != nil {
		return result, err
	}
	host, measured, err := e.about(ctx)
	if err != nil {
		return result, err
	}
	result.Host = host
	b.passed(fmt.Sprintf("The engine at %s answers (%s).", e.at.shown(), e.version()), measured)
	b.began("image")
	s := &sandbox{engine: e, config: c, spec: spec, instance: uuid.Nil}
	result.Image, err = s.probeImage(ctx, b)
	result.Summary = fmt.Sprintf("The engine at %s answers (%s).", e.at.shown(), e.version())
	if err == nil {
		result.Summary += " " + b.last().Message
	}
	return result, err
}

// about reads which machine the engine is on.
func (e *engine) about(ctx context.Context) (*environment.HostFacts, map[string]any, error) {
	limited, cancel := e.call(ctx)
	defer cancel()
	r, err := e.Info(limited, client.InfoOptions{})
	if err != nil {
		return nil, nil, e.explain(ctx, err, environment.CodeEngineUnreachable, "tell about itself")
	}
	measured := e.measured()
	for key, value := range map[string]string{"host": r.Info.Name, "os": r.Info.OperatingSystem, "arch": r.Info.Architecture,
		"storage": r.Info.Driver, "runtime": r.Info.DefaultRuntime} {
		measured[key] = clean(value)
	}
	return &environment.HostFacts{Name: clean(r.Info.Name), BootID: clean(r.Info.ID)}, measured, nil
}

// probeImage finds the image on the engine, else asks its registry through the
// engine.
func (s *sandbox) probeImage(ctx context.Context, b *board) (*environment.ImageIdentity, error) {
	r, err := s.config.image()
	if err != nil {
		return nil, err
	}
	p := &picture{imageRef: r, use: r.wire(), policy: s.config.pull()}
	local, err := s.local(ctx, p.use)
	if err != nil {
		return nil, err
	}
	arch := strings.TrimPrefix(s.config.Platform, "linux/")
	if local != nil && arch != "" && local.Architecture != arch {
		local = nil
	}
	if local != nil && (p.policy != pullAlways || p.ID != "") {
		identity := identify(s.config.Image, nil, sumOf(local.ID), local.RepoDigests)
		p.found(s, b)
		return &identity, nil
	}
	if !p.mayPull() {
		return nil, s.noImage(errdefs.ErrNotFound, p)
	}
	auth, err := s.auth(r)
	if err != nil {
		return nil, err
	}
	limited, cancel := s.call(ctx)
	defer cancel()
	remote, err := s.DistributionInspect(limited, p.use, client.DistributionInspectOptions{EncodedRegistryAuth: auth})
	if err != nil {
		if unasked(err) {
			b.warned(fmt.Sprintf("This engine cannot ask the registry %s without pulling, so %s was not looked for.", r.Registry, r.Text),
				"Test the saved environment: that makes a sandbox, and pulls the image.")
			return nil, nil
		}
		return nil, s.unpulled(ctx, err, p)
	}
	if arch != "" && len(remote.Platforms) > 0 && !slices.ContainsFunc(remote.Platforms, func(o ocispec.Platform) bool { return o.Architecture == arch }) {
		return nil, s.noPlatform(p)
	}
	digest := remote.Descriptor.Digest.String()
	b.passed(fmt.Sprintf("The registry %s has %s.", r.Registry, r.Text), map[string]any{"image": r.Text, "digest": digest})
	return &environment.ImageIdentity{Kind: environment.ImageDigest, Reference: r.Text, Repository: r.name(), Digest: digest}, nil
}

// unasked reports whether an engine has no way to ask a registry.
func unasked(err error) bool {
	return errdefs.IsNotImplemented(err) || err.Error() == http.StatusText(http.StatusNotFound) ||
		errdefs.IsNotFound(err) && (words(err, nil) == "Not Found" || words(err, nil) == "page not found" || words(err, nil) == "404 page not found")
}
