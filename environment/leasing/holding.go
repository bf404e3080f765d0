package leasing

import "github.com/google/uuid"

// Hold beats for a lease that an earlier server acquired, until Finish or LetGo.
func (s *Service) Hold(id uuid.UUID) {}

// LetGo ends the beating for a lease without releasing it: the next server takes
// it up.
func (s *Service) LetGo(id uuid.UUID) {}
