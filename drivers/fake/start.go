package fake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"berth/environment"
)

// askAgain is the time between two questions whether a sandbox is ready.
const askAgain = 20 * time.Millisecond

// start runs a sandbox and waits until it says "ready": another word, and none,
// only means that it is not ready yet.
func (d *Driver) start(ctx context.Context, ref environment.Ref) error {
	return d.stage(ref.Spec, "start", func() (string, error) {
		k, err := d.step(ctx, ref, "start")
		if err != nil {
			return "", err
		}
		if k.lose {
			if err := d.world.destroy(ref.ProviderID); err != nil {
				return "", err
			}
		}
		if err := d.world.run(ref.ProviderID, true); errors.Is(err, fs.ErrNotExist) {
			return "", gone(ref.ProviderID)
		} else if err != nil {
			return "", environment.Unavailable(environment.CodeStartFailed, "The fake sandbox did not start.").Because(err)
		}
		if err := d.untilReady(ctx, ref.Spec, k.words); err != nil {
			return "", err
		}
		if k.loseAnswer {
			return "", lost("start")
		}
		return "The sandbox is ready.", nil
	})
}

// untilReady asks for the status until it is "ready". The last word stays.
func (d *Driver) untilReady(ctx context.Context, spec environment.Spec, words []string) error {
	for i := 0; len(words) > 0; i++ {
		word := words[min(i, len(words)-1)]
		if word == ready {
			return nil
		}
		d.tell(spec, environment.Stage{Name: "start", Status: environment.StageRunning, Message: "Not ready yet: the sandbox " + says(word) + "."})
		if err := wait(ctx, askAgain); err != nil {
			return environment.NewError(environment.KindTimeout, environment.CodeStartFailed,
				fmt.Sprintf("The sandbox was not ready within %s: it %s.", d.StartupBudget(spec.Config), says(word))).
				Remedy(environment.Remedy(environment.CodeStartFailed)).Because(err)
		}
	}
	return nil
}

// says tells what a status is in words, one that nobody knows as it came.
func says(word string) string {
	switch word {
	case "":
		return "says nothing about its state"
	case "starting":
		return "is starting"
	}
	return fmt.Sprintf("says %q", word)
}
