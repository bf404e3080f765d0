package fake

import (
	"context"
	"errors"
	"io/fs"

	"berth/environment"
)

// Release stops or destroys a sandbox. The receipt says "destroyed", "stopped" or
// "gone", and what the script makes of it.
func (d *Driver) Release(ctx context.Context, ref environment.Ref, disposition environment.Disposition) (environment.Receipt, error) {
	receipt := environment.Receipt{ProviderID: ref.ProviderID, At: d.opts.Now().UTC(), Details: map[string]any{"disposition": string(disposition)}}
	k, err := d.step(ctx, ref, "release.before")
	if err != nil {
		return environment.Receipt{}, err
	}
	switch k.lie {
	case "accepted":
		receipt.Outcome = "accepted"
		return receipt, nil
	case "wrong-id":
		receipt.Outcome, receipt.ProviderID = "destroyed", newID("other")
		return receipt, nil
	}
	s, err := d.find(ref)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		receipt.Outcome = "gone"
	case err != nil:
		return environment.Receipt{}, err
	default:
		receipt.ProviderID = s.ID
		if receipt.Outcome, err = d.release(s, disposition); err != nil {
			return environment.Receipt{}, environment.Unavailable(environment.CodeCleanupUnconfirmed, "The fake sandbox could not be released.").Because(err)
		}
	}
	after, err := d.step(ctx, ref, "release.after")
	if err == nil && (k.loseAnswer || after.loseAnswer) {
		err = lost("release.after")
	}
	if err != nil {
		return environment.Receipt{}, err
	}
	receipt.At = d.opts.Now().UTC()
	return receipt, nil
}

// find returns what a ref holds: by its id or, when an answer never came, by its
// lease. fs.ErrNotExist for nothing, sandbox_mismatch for somebody else's.
func (d *Driver) find(ref environment.Ref) (sandbox, error) {
	var s sandbox
	var err error
	if ref.ProviderID != "" {
		s, err = d.world.get(ref.ProviderID)
	} else if ref.LeaseKey == "" {
		return s, fs.ErrNotExist
	} else {
		s, err = d.world.read(d.world.folder(nameOf(ref.InstanceID, ref.LeaseKey)))
	}
	if err == nil && s.InstanceID != ref.InstanceID {
		return s, environment.Conflict(environment.CodeSandboxMismatch, "The sandbox "+s.ID+" is another installation's.").
			Remedy(environment.Remedy(environment.CodeSandboxMismatch))
	}
	return s, err
}

func (d *Driver) release(s sandbox, disposition environment.Disposition) (string, error) {
	switch disposition {
	case environment.Keep:
		return "released", nil
	case environment.StopAndRetain:
		if err := end(d.world.folderOf(s.ID), s.ID); err != nil {
			return "", err
		}
		if err := d.world.run(s.ID, false); errors.Is(err, fs.ErrNotExist) {
			return "gone", nil
		} else if err != nil {
			return "", err
		}
		return "stopped", nil
	}
	return "destroyed", d.world.destroy(s.ID)
}
