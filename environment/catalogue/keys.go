package catalogue

import (
	"context"

	"berth/environment"
	"berth/environment/access"
)

// GenerateKey makes a key pair. The private half is for the caller to send back
// with a save; nothing is stored.
func (s *Service) GenerateKey(ctx context.Context, actor environment.Actor, comment string) (environment.Secret, environment.KeyFacts, error) {
	tool, err := s.keyTool(actor)
	if err != nil {
		return environment.Secret{}, environment.KeyFacts{}, err
	}
	return tool.GenerateKey(comment)
}

// InspectKey says what a pasted key is, without its secret part.
func (s *Service) InspectKey(ctx context.Context, actor environment.Actor, text, passphrase environment.Secret) (environment.KeyFacts, error) {
	tool, err := s.keyTool(actor)
	if err != nil {
		return environment.KeyFacts{}, err
	}
	return tool.InspectKey(text, passphrase)
}

// ReadSSHConfig reads a pasted block of an ssh client's config into config
// keys, and returns what it ignored.
func (s *Service) ReadSSHConfig(ctx context.Context, actor environment.Actor, text string) (map[string]any, []string, error) {
	tool, err := s.keyTool(actor)
	if err != nil {
		return nil, nil, err
	}
	return tool.ReadClientConfig(text)
}

func (s *Service) keyTool(actor environment.Actor) (environment.KeyTool, error) {
	if err := access.May(actor, access.ManageEnvironment, access.Instance); err != nil {
		return nil, err
	}
	return environment.Ability[environment.KeyTool](s.drivers, environment.DriverKey{Driver: environment.DriverSSH})
}

// Capabilities returns what the installed drivers can do. It touches no target.
func (s *Service) Capabilities(ctx context.Context, actor environment.Actor) ([]environment.Capabilities, error) {
	if err := access.May(actor, access.ReadEnvironments, access.Instance); err != nil {
		return nil, err
	}
	return s.drivers.Capabilities(), nil
}
