package secrets

import (
	"bytes"
	"context"
	"fmt"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// batch is how many sealed values one transaction rewrites.
const batch = 100

// RotateKey gives the keyset a new primary key, seals everything again under it
// and drops the old keys. Each step can be cut off: it may be called again after it
// was interrupted, and then goes on with the key that was made.
//
// The order keeps every value readable at any point. The new key is in the file
// before anything is sealed under it; old keys leave the file only when the
// database refuses to take more under them and a second pass found none left.
func (s *Service) RotateKey(ctx context.Context, actor environment.Actor) (Rotation, error) {
	if err := access.May(actor, access.RotateKey, access.Instance); err != nil {
		return Rotation{}, err
	}
	s.turning.Lock() // two at once in one server would make two keys
	defer s.turning.Unlock()
	if err := s.keyset.Reload(); err != nil { // another server may have begun
		return Rotation{}, fmt.Errorf("read the keyset: %w", err)
	}
	from, err := s.store.KeysetFingerprint(ctx)
	if err != nil {
		return Rotation{}, err
	}
	if err := s.holds(from); err != nil {
		return Rotation{}, err
	}
	if len(s.keyset.Fingerprints()) == 1 {
		if err := s.keyset.Rotate(); err != nil {
			return Rotation{}, fmt.Errorf("add a key: %w", err)
		}
	}
	r := Rotation{From: from, To: s.keyset.Fingerprint()}
	if err := s.moveTo(ctx, actor, &r); err != nil {
		return r, err
	}
	if err := s.keyset.Prune(); err != nil {
		return r, fmt.Errorf("drop the old keys: %w", err)
	}
	if err := s.store.WakeKeyset(ctx); err != nil {
		s.log.Warn("tell the other servers that old keys went", "err", err) // they find out by themselves
	}
	s.log.Info("the master key was turned over", "from", r.From, "to", r.To, "resealed", r.Resealed)
	return r, nil
}

// moveTo makes the new key the only one that anything is sealed under.
func (s *Service) moveTo(ctx context.Context, actor environment.Actor, r *Rotation) error {
	// From here on the other servers seal under the new key, too.
	if err := s.store.WakeKeyset(ctx); err != nil {
		return fmt.Errorf("tell the other servers of the key: %w", err)
	}
	if err := s.reseal(ctx, r); err != nil {
		return err
	}
	a := environment.Activity{
		ID: environment.NewID(), Action: "keyset.rotated", EntityType: "instance", EntityID: "instance",
		Details: map[string]any{"from": r.From, "to": r.To, "resealed": r.Resealed}, RequestID: environment.RequestID(ctx), CreatedAt: s.now(),
	}.By(actor)
	if r.From != r.To { // else it was moved before the interruption
		if err := s.store.MoveKeyset(ctx, r.From, r.To, s.keyset.Marks()[1:], a); err != nil {
			return err
		}
	}
	return s.reseal(ctx, r) // what came in between
}

// reseal seals everything under the primary key that is not yet.
func (s *Service) reseal(ctx context.Context, r *Rotation) error {
	mark := s.keyset.Marks()[0]
	again := func(id uuid.UUID, ciphertext []byte) ([]byte, error) {
		if bytes.HasPrefix(ciphertext, mark) {
			return nil, nil
		}
		value, err := s.keyset.Open(id, ciphertext)
		if err != nil {
			return nil, fmt.Errorf("open %s to seal it again: %w", id, err)
		}
		return s.keyset.Seal(id, value)
	}
	for place := ""; ; {
		next, n, err := s.store.Reseal(ctx, place, batch, again)
		if err != nil {
			return fmt.Errorf("seal everything again: %w", err)
		}
		r.Resealed += n
		if next == "" {
			return nil
		}
		place = next
	}
}

// holds refuses a keyset file that is not that of the data.
func (s *Service) holds(bound string) error {
	for _, f := range s.keyset.Fingerprints() {
		if f == bound {
			return nil
		}
	}
	return environment.Conflict("keyset_mismatch", "This server's keyset file does not hold the key that the data is sealed with.").
		Remedy("Give it the file that the other servers use. The key's fingerprint is " + bound + ".")
}
