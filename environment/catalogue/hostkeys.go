package catalogue

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// knownHostsKey is the config key of a text of pinned host keys.
const knownHostsKey = "knownHosts"

// ScanHostKeys asks host:port (through proxyJump, "" for none) for its keys.
// baseID gives the credentials for the hops; nil: none.
func (s *Service) ScanHostKeys(ctx context.Context, actor environment.Actor, baseID *uuid.UUID, host string, port int, proxyJump string) ([]environment.HostKey, error) {
	if err := access.May(actor, access.ManageEnvironment, access.Instance); err != nil {
		return nil, err
	}
	if err := s.enabled(ctx); err != nil {
		return nil, err
	}
	var fields []environment.FieldError
	clean, problem := environment.CleanHost(host)
	if problem != "" {
		fields = append(fields, environment.FieldError{Field: "host", Message: problem})
	}
	if port == 0 {
		port = 22
	}
	if port < 1 || port > 65535 {
		fields = append(fields, environment.FieldError{Field: "port", Message: "A port is between 1 and 65535."})
	}
	if err := environment.InvalidFields(fields); err != nil {
		return nil, err
	}
	scanner, err := environment.Ability[environment.HostKeyScanner](s.drivers, environment.DriverKey{Driver: environment.DriverSSH})
	if err != nil {
		return nil, err
	}
	spec, err := s.scanSpec(ctx, actor, baseID, clean, port, strings.TrimSpace(proxyJump))
	if err != nil {
		return nil, err
	}
	return scanner.ScanHostKeys(ctx, spec)
}

func (s *Service) scanSpec(ctx context.Context, by environment.Actor, baseID *uuid.UUID, host string, port int, proxyJump string) (environment.Spec, error) {
	spec := environment.Spec{
		Driver: environment.DriverSSH, Config: json.RawMessage("{}"),
		Secrets: map[string]environment.Secret{}, SecretProblems: map[string]string{},
	}
	base, err := s.base(ctx, baseID)
	if err != nil {
		return spec, err
	}
	if base != nil && base.Driver == environment.DriverSSH {
		if spec, _, err = s.Spec(ctx, base.Environment, environment.SecretUse{Purpose: environment.ForDraft, ActorName: by.Name}); err != nil {
			return spec, err
		}
	}
	config := environment.SSHConfig{StrictHostKeyChecking: true, KeepAliveSec: 15}
	if err := json.Unmarshal(spec.Config, &config); err != nil {
		return spec, err
	}
	config.Host, config.Port, config.ProxyJump = host, port, nil
	if proxyJump != "" {
		config.ProxyJump = &proxyJump
	}
	spec.Config, err = json.Marshal(config)
	return spec, err
}

// TrustHostKey scans again and pins the presented key of that fingerprint.
// KindConflict: host_key_not_presented (detail presented), host_key_revoked,
// host_key_replaces (details trusted, presented) when other keys are pinned for
// that host and replace is false. A key that is pinned already changes nothing.
func (s *Service) TrustHostKey(ctx context.Context, actor environment.Actor, id uuid.UUID, fingerprint string, replace bool) (environment.Environment, error) {
	none := environment.Environment{}
	if err := access.May(actor, access.ManageEnvironment, access.Instance); err != nil {
		return none, err
	}
	if err := s.enabled(ctx); err != nil {
		return none, err
	}
	view, err := s.environment(ctx, id)
	if err != nil {
		return none, err
	}
	scanner, err := environment.Ability[environment.HostKeyScanner](s.drivers, view.Key())
	if err != nil {
		return none, err
	}
	spec, _, err := s.Spec(ctx, view.Environment, environment.SecretUse{Purpose: environment.ForProbe, ActorName: actor.Name})
	if err != nil {
		return none, err
	}
	presented, err := scanner.ScanHostKeys(ctx, spec)
	if err != nil {
		return none, err
	}
	at := slices.IndexFunc(presented, func(k environment.HostKey) bool { return k.Fingerprint == strings.TrimSpace(fingerprint) })
	if at < 0 {
		return none, environment.Conflict("host_key_not_presented", "The host does not present a key with that fingerprint.").
			Remedy("Compare the fingerprints that it presents now.").With("presented", presented)
	}
	return s.pin(ctx, actor, view.Environment, presented[at], presented, replace)
}

// pin writes one key into the row's known hosts.
func (s *Service) pin(ctx context.Context, actor environment.Actor, scanned environment.Environment, key environment.HostKey, presented []environment.HostKey, replace bool) (environment.Environment, error) {
	name := environment.KnownHostsLineName(key.KnownHostsLine)
	return s.rewrite(ctx, scanned.ID, nil, func(old environment.EnvironmentView) (Write, error) {
		if !sameAddress(scanned, old.Environment) {
			return Write{}, environment.Conflict("host_key_not_presented", "The address was changed during the scan.").Remedy("Scan again.")
		}
		text := knownHosts(old.Environment)
		pins := environment.KnownHostsPins(text, name)
		others := slices.DeleteFunc(slices.Clone(pins), func(k environment.HostKey) bool { return k.Fingerprint == key.Fingerprint })
		pinned := len(others) < len(pins)
		switch {
		case environment.KnownHostsRevokes(text, key.KnownHostsLine):
			return Write{}, environment.Conflict(environment.CodeHostKeyRevoked, "The known hosts mark this key as revoked.").
				Remedy(environment.Remedy(environment.CodeHostKeyRevoked))
		case pinned && (!replace || len(others) == 0):
			return Write{}, nil
		case len(others) > 0 && !replace:
			return Write{}, environment.Conflict(environment.CodeHostKeyReplaces, "Another key is trusted for "+name+".").
				Remedy(environment.Remedy(environment.CodeHostKeyChanged)).With("trusted", others).With("presented", presented)
		}
		if len(others) > 0 {
			text = environment.KnownHostsWithout(text, name)
		}
		details := map[string]any{"host": name, "keyType": key.Type, "fingerprint": key.Fingerprint, "replaced": fingerprints(others)}
		return s.pinWrite(ctx, actor, old.Environment, environment.KnownHostsWith(text, key.KnownHostsLine), details, true)
	})
}

// PinFirstUse stores the known_hosts text that a probe or run learned under
// strictHostKeyChecking false. It does not count as a change of config, adds
// only hosts for which no key is pinned yet, and does nothing twice.
func (s *Service) PinFirstUse(ctx context.Context, id uuid.UUID, learned string) error {
	_, err := s.rewrite(ctx, id, nil, func(old environment.EnvironmentView) (Write, error) {
		var strict bool
		if err := json.Unmarshal(object(old.Config)["strictHostKeyChecking"], &strict); err != nil || strict {
			return Write{}, nil // an edit since then wants no first use
		}
		before := knownHosts(old.Environment)
		text, added := before, []string{}
		for line := range strings.Lines(learned) {
			name := environment.KnownHostsLineName(line)
			if name == "" || len(environment.KnownHostsPins(before, name)) > 0 || environment.KnownHostsRevokes(before, line) {
				continue
			}
			for _, key := range environment.KnownHostsPins(line, name) {
				text, added = environment.KnownHostsWith(text, line), append(added, key.Fingerprint)
			}
		}
		if len(added) == 0 {
			return Write{}, nil
		}
		return s.pinWrite(ctx, environment.System(), old.Environment, text, map[string]any{"firstUse": true, "fingerprints": added}, false)
	})
	return err
}

func (s *Service) pinWrite(ctx context.Context, actor environment.Actor, old environment.Environment, text string, details map[string]any, configChanged bool) (Write, error) {
	config := object(old.Config)
	quoted, err := json.Marshal(text)
	if err != nil {
		return Write{}, err
	}
	config[knownHostsKey] = quoted
	next := old
	if next.Config, err = json.Marshal(config); err != nil {
		return Write{}, err
	}
	next.UpdatedAt = s.now()
	details["name"], details["revision"], details["changedFields"] = old.Name, old.Revision+1, []string{"config." + knownHostsKey}
	return Write{
		Environment: next, ConfigChanged: configChanged,
		Activity: s.activity(ctx, actor, "environment.host_key_trusted", "environment", old.ID.String(), details),
	}, nil
}

func knownHosts(env environment.Environment) string {
	var text string
	_ = json.Unmarshal(object(env.Config)[knownHostsKey], &text) // absent or null is no text
	return text
}

func sameAddress(a, b environment.Environment) bool {
	x, y := object(a.Config), object(b.Config)
	return a.Driver == b.Driver && canonical(x["host"]) == canonical(y["host"]) && canonical(x["port"]) == canonical(y["port"]) &&
		canonical(x["proxyJump"]) == canonical(y["proxyJump"])
}

func fingerprints(keys []environment.HostKey) []string {
	out := []string{}
	for _, k := range keys {
		out = append(out, k.Fingerprint)
	}
	return out
}
