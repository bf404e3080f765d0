package environmenttest

// TurnOn turns environments on, as an instance admin does once: nothing can be
// made, tested or run before.
func (s *Store) TurnOn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings.EnableEnvironments = true
}
