package fake

import (
	"cmp"
	"context"
	"time"

	"berth/environment"
)

// step counts a call and does what the script says of it. What comes back is left
// for the caller to do.
func (d *Driver) step(ctx context.Context, ref environment.Ref, name string) (knobs, error) {
	if err := d.world.count(name); err != nil {
		return knobs{}, err
	}
	c, err := readConfig(configOf(ref))
	if err != nil {
		return knobs{}, err
	}
	text, scripted := c.Script[name]
	if !scripted {
		return knobs{}, nil
	}
	k, err := parseKnobs(name, text)
	if err != nil {
		return knobs{}, environment.Invalid("script", "The script of this fake sandbox cannot be read: "+err.Error()+".")
	}
	call := 0
	if k.failTimes > 0 || k.times > 0 {
		if call, err = d.world.next(cmp.Or(ref.Metadata["environment"], ref.Spec.EnvironmentID.String()), name, text); err != nil {
			return knobs{}, err
		}
	}
	if k.delay > 0 && !k.lose {
		if err := wait(ctx, k.delay); err != nil {
			return knobs{}, err
		}
	}
	if k.failTimes < 0 || call <= k.failTimes && k.failTimes > 0 {
		return knobs{}, failure(name, cmp.Or(k.code, codeOfStep(name)))
	}
	if k.times > 0 && call > k.times {
		return k.only(), nil
	}
	if k.crash {
		if d.opts.Crash == nil {
			return knobs{}, environment.Invalid("crash_unavailable", "This server does not crash because a script says so.")
		}
		d.opts.Log.WarnContext(ctx, "a fake sandbox's script ends the server", "step", name)
		d.opts.Crash()
	}
	return k, nil
}

// wait returns after a time, or with the reason why ctx ended.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return environment.NewError(environment.KindTimeout, environment.CodeTimedOut, "The fake sandbox did not answer in time.").
			Remedy(environment.Remedy(environment.CodeTimedOut)).Because(context.Cause(ctx))
	}
}

// lost is the failure of what was done and whose answer did not arrive.
func lost(step string) error { return failure(step, environment.CodeConnectionLost) }
