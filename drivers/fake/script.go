package fake

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/environment"
)

// Steps are where a script can intervene, in the order of a sandbox's life.
func Steps() []string {
	return []string{"probe", "engine", "image", "acquire.before-create", "acquire.after-create", "start", "exec", "read", "shell",
		"identity", "capture", "delete-image", "resume", "resume.after", "release.before", "release.after", "list"}
}

// ready is the only word of a sandbox's status that means so.
const ready = "ready"

// knobs are what happens at one step. They are written as words in one line:
// "delayMs=200 failTimes=2 code=create_failed".
type knobs struct {
	delay     time.Duration // delayMs: it takes so long
	failTimes int           // failTimes: the first so many calls fail; -1: all
	code      string        // code: of those failures
	times     int           // times: what follows is for the first so many calls only; 0: for all
	mark      string        // mark: any word; another one starts the counting anew

	lie        string   // lieReceipt: "accepted" or "wrong-id", and nothing is released
	loseAnswer bool     // loseAnswer: it is done, and then fails
	lose       bool     // lose: the sandbox vanishes; of exec, delayMs after it began
	crash      bool     // crash: the process ends; for the first call only, unless times says
	words      []string // statusWords: what the sandbox answers in turn when it is asked whether it is ready
	big        int64    // bigAnswerBytes: so many bytes come before the command's own output
	echo       bool     // echo: the command is printed, not run
}

// parseKnobs reads the words for a step; an error says in plain words what is
// wrong.
func parseKnobs(step, text string) (knobs, error) {
	var k knobs
	if !slices.Contains(Steps(), step) {
		return k, fmt.Errorf("there is no such step; they are %s", strings.Join(Steps(), ", "))
	}
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		if err := k.set(name, value); err != nil {
			return k, err
		}
	}
	if k.crash && k.times == 0 {
		k.times = 1
	}
	return k, nil
}

func (k *knobs) set(name, value string) error {
	number := func(to *int, low, high int) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < low || n > high {
			return fmt.Errorf("%s is a number from %d to %d", name, low, high)
		}
		*to = n
		return nil
	}
	var n int
	switch name {
	case "delayMs":
		err := number(&n, 0, 3_600_000)
		k.delay = time.Duration(n) * time.Millisecond
		return err
	case "failTimes":
		return number(&k.failTimes, -1, 1_000_000)
	case "times":
		return number(&k.times, 0, 1_000_000)
	case "bigAnswerBytes":
		err := number(&n, 0, 1<<30)
		k.big = int64(n)
		return err
	case "code":
		k.code = value
	case "mark":
		k.mark = value
	case "lieReceipt":
		if k.lie = value; value != "accepted" && value != "wrong-id" {
			return fmt.Errorf("lieReceipt is accepted or wrong-id")
		}
	case "statusWords":
		k.words = strings.Split(value, ",")
	case "loseAnswer":
		k.loseAnswer = true
	case "lose":
		k.lose = true
	case "crash":
		k.crash = true
	case "echo":
		k.echo = true
	default:
		return fmt.Errorf("there is no knob %q", name)
	}
	return nil
}

// only leaves what is for every call, of one that is not among the first.
func (k knobs) only() knobs { return knobs{delay: k.delay, words: k.words} }

// failure is the error of a step that a script makes fail.
func failure(step, code string) error {
	kind := environment.KindUnavailable
	switch code {
	case environment.CodeSandboxGone, environment.CodeImageDeleted, environment.CodeImageNotFound:
		kind = environment.KindNotFound
	case environment.CodeSandboxMismatch:
		kind = environment.KindConflict
	case environment.CodeTimedOut:
		kind = environment.KindTimeout
	}
	return environment.NewError(kind, code, fmt.Sprintf("The script of this fake sandbox fails the step %s.", step)).Remedy(environment.Remedy(code))
}

// codeOfStep is the code of a failure where the script says none.
func codeOfStep(step string) string {
	switch step {
	case "acquire.before-create", "acquire.after-create":
		return environment.CodeCreateFailed
	case "start", "resume", "resume.after":
		return environment.CodeStartFailed
	}
	return environment.CodeEngineUnreachable
}
