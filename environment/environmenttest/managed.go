package environmenttest

import (
	"context"

	"berth/environment"
)

// ManagedEnvironment implements catalogue.Store and running.Store.
func (s *Store) ManagedEnvironment(context.Context) (environment.EnvironmentView, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.managed(); e != nil {
		return s.view(e), nil
	}
	return environment.EnvironmentView{}, environment.NotFound("environment")
}

func (s *Store) managed() *savedEnvironment {
	for _, e := range s.environments {
		if e.Managed {
			return e
		}
	}
	return nil
}

// SetManagedProvider implements catalogue.Store.
func (s *Store) SetManagedProvider(_ context.Context, provider string, a environment.Activity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settings.ManagedProvider != provider {
		s.settings.ManagedProvider = provider
		s.record(a)
		s.bump()
	}
	return nil
}
