package docker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"berth/environment"

	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/api/types/jsonstream"
	"github.com/moby/moby/api/types/registry"
	"github.com/moby/moby/client"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

const (
	maxProgress = 1 << 20 // of one word on the way
	tellEvery   = 500 * time.Millisecond
)

// pull fetches an image from its registry, as long as ctx allows. Codes:
// image_not_found (detail proof: the registry itself said so), image_denied,
// image_digest_mismatch, registry_unreachable, disk_low, credential_missing.
func (s *sandbox) pull(ctx context.Context, p *picture, b *board) error {
	auth, err := s.auth(p.imageRef)
	if err != nil {
		return err
	}
	b.going(fmt.Sprintf("Pulling %s.", p.Text), nil)
	o := client.ImagePullOptions{RegistryAuth: auth}
	if arch, ok := strings.CutPrefix(s.config.Platform, "linux/"); ok {
		o.Platforms = []ocispec.Platform{{OS: "linux", Architecture: arch}}
	}
	words, err := s.ImagePull(ctx, p.wire(), o)
	if err != nil {
		return s.unpulled(ctx, err, p)
	}
	defer func() { _ = words.Close() }()
	if err := s.follow(words, p, b); err != nil {
		return s.unpulled(ctx, err, p)
	}
	p.pulled = true
	return nil
}

// errRegistry is what an engine tells, on the way, of a pull that failed.
type errRegistry struct{ text string }

func (e errRegistry) Error() string { return e.text }

// follow reads how a pull goes on until it has ended.
func (s *sandbox) follow(words io.Reader, p *picture, b *board) error {
	lines := bufio.NewScanner(words)
	lines.Buffer(nil, maxProgress)
	layers, told := map[string]bool{}, b.now()
	for lines.Scan() {
		var m struct {
			jsonstream.Message
			Old string `json:"error"`
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			continue // not a word of ours
		}
		switch {
		case m.Error != nil:
			return errRegistry{m.Error.Message}
		case m.Old != "":
			return errRegistry{m.Old}
		case m.ID != "" && len(layers) < 1000:
			layers[m.ID] = layers[m.ID] || m.Status == "Pull complete" || m.Status == "Already exists"
		}
		if b.heard() && b.now().Sub(told) > tellEvery {
			told = b.now()
			done := 0
			for _, whole := range layers {
				if whole {
					done++
				}
			}
			b.going(fmt.Sprintf("Pulling %s: %d of %d layers.", p.Text, done, len(layers)), map[string]any{"layers": len(layers), "layersDone": done})
		}
	}
	return lines.Err()
}

// unpulled explains a pull that failed.
func (s *sandbox) unpulled(ctx context.Context, err error, p *picture) error {
	if ctx.Err() != nil || unanswered(err) {
		return s.explainTo(ctx, err, environment.CodeEngineUnreachable, "pull "+p.Text, s.spec.Secrets)
	}
	what := words(err, s.spec.Secrets)
	lower, cause := p.unnamed(strings.ToLower(what)), said{what, err}
	says := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(lower, part) {
				return true
			}
		}
		return false
	}
	fail := func(kind environment.Kind, code, message string) *environment.Error {
		return environment.NewError(kind, code, message).Because(cause)
	}
	switch {
	case says("no space left"):
		return s.explainTo(ctx, errors.New(what), environment.CodeDiskLow, "pull "+p.Text, s.spec.Secrets)
	case says("verification failed for digest", "does not match", "digest mismatch", "unexpected digest", "did not match"):
		return fail(environment.KindConflict, environment.CodeImageDigestMismatch, fmt.Sprintf("What the registry gives for %s is not what its digest says: %s.", p.Text, stopless(what))).
			Remedy("Do not use this registry before you know why.")
	case says("unauthorized", "denied", "authentication required", "no basic auth", "incorrect username", "forbidden", "401", "403"):
		return s.imageDenied(p, what, cause)
	case says("toomanyrequests", "too many requests", "rate limit"):
		return fail(environment.KindUnavailable, environment.CodeRegistryUnreachable, fmt.Sprintf("The registry %s takes no more requests for now: %s.", p.Registry, stopless(what))).
			Remedy("Wait, or log in to the registry.")
	case says("no matching manifest", "does not provide the specified platform", "no image found in manifest list", "no image found in image index"):
		return s.noPlatform(p)
	case says("manifest unknown", "name unknown", "not found", "does not exist", "repository name not known", "manifest invalid"):
		return fail(environment.KindNotFound, environment.CodeImageNotFound, fmt.Sprintf("The registry %s has no %s.", p.Registry, p.Text)).
			Remedy("Correct the image's name, or push it.").With("proof", says("manifest unknown", "name unknown", "repository name not known", "manifest for"))
	}
	return fail(environment.KindUnavailable, environment.CodeRegistryUnreachable, fmt.Sprintf("The engine at %s could not fetch %s: %s.", s.at.shown(), p.Text, stopless(what))).
		Remedy("Look whether the engine's machine reaches the registry " + p.Registry + ".")
}

// unnamed takes an image's own names out of what is said of it: a digest may hold
// 401, and a repository be called denied.
func (r imageRef) unnamed(text string) string {
	short := strings.TrimPrefix(r.Repository, "library/")
	for _, name := range []string{r.wire(), r.Text, r.name(), short + "@" + r.Digest, short + ":" + r.Tag, r.Digest, "repository " + short, r.Registry} {
		if len(name) > 1 {
			text = strings.ReplaceAll(text, strings.ToLower(name), "it")
		}
	}
	return text
}

func (s *sandbox) imageDenied(p *picture, what string, cause error) error {
	as := "without a login"
	remedy := "Enter the registry's user name and password, if the image is not public; and check its name."
	if s.config.RegistryUsername != "" {
		as = fmt.Sprintf("to %q", s.config.RegistryUsername)
		remedy = "Check the registry's user name and password, and what that user may pull."
	}
	return environment.Unavailable(environment.CodeImageDenied, fmt.Sprintf("The registry %s refuses %s %s: %s.", p.Registry, p.Text, as, stopless(what))).
		Remedy(remedy).Because(cause)
}

// auth is the login for an image's registry; "" for none. It is given for the
// registry of the configured image alone.
func (s *sandbox) auth(r imageRef) (string, error) {
	configured, err := s.config.image()
	if err != nil || s.config.RegistryUsername == "" || configured.Registry != r.Registry {
		return "", err
	}
	if code := s.spec.SecretProblems["registryPassword"]; code != "" {
		return "", environment.Unavailable(code, fmt.Sprintf("The stored password for the registry %s cannot be opened.", r.Registry)).Remedy(environment.Remedy(code))
	}
	password := s.spec.Secrets["registryPassword"]
	if password.Empty() {
		return "", credentialMissing(fmt.Sprintf("The password of %q for the registry %s is missing.", s.config.RegistryUsername, r.Registry), "Enter the password, or take the user name away.")
	}
	address := r.Registry
	if address == "docker.io" {
		address = "https://index.docker.io/v1/"
	}
	encoded, err := authconfig.Encode(registry.AuthConfig{Username: s.config.RegistryUsername, Password: password.Reveal(), ServerAddress: address})
	if err != nil {
		return "", errors.New("write the login for the registry") // the cause could hold it
	}
	return encoded, nil
}
