package running

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"berth/environment"

	"github.com/google/uuid"
)

// Input is a run as it is asked for.
type Input struct {
	CompanyID     uuid.UUID
	EnvironmentID *uuid.UUID
	Command       []string
	Title         *string
	Cwd           *string
	Env           map[string]string
	Stdin         []byte
	TimeoutSec    *int // nil: 900
	// Native demands a current qualification and runs from exactly its image.
	Native bool
}

// Limits on what is sent to a target: less than any system's own limits on the
// arguments of a process, so that a refusal is told before the run.
const (
	maxCommandBytes = 128 << 10 // with one byte after each argument
	maxEnvBytes     = 512 << 10 // names and values
	maxCwd          = 4096
)

// problems returns what is wrong with an input, field by field. limit is the
// instance's cap on a timeout, in seconds.
func (in Input) problems(limit int) []environment.FieldError {
	var found []environment.FieldError
	add := func(field, problem string) {
		if problem != "" {
			found = append(found, environment.FieldError{Field: field, Message: problem})
		}
	}
	add("command", commandProblem(in.Command))
	if in.Title != nil && strings.TrimSpace(*in.Title) != "" {
		_, problem := environment.CleanName(*in.Title)
		add("title", strings.Replace(problem, "name", "title", 1))
	}
	if in.Cwd != nil {
		add("cwd", cwdProblem(*in.Cwd))
	}
	if len(in.Env) > environment.MaxEnvVars {
		add("env", fmt.Sprintf("A run has at most %d variables.", environment.MaxEnvVars))
	}
	size := 0
	for _, name := range slices.Sorted(maps.Keys(in.Env)) {
		add("env."+name, cmp.Or(environment.EnvNameProblem(name), environment.EnvValueProblem(in.Env[name])))
		size += len(name) + len(in.Env[name]) + 2
	}
	if size > maxEnvBytes {
		add("env", "The variables of a run hold at most 512 KiB together.")
	}
	if len(in.Stdin) > environment.MaxStdin {
		add("stdin", "Standard input has at most 512 KiB.")
	}
	if t := in.TimeoutSec; t != nil && (*t < 1 || *t > limit) {
		add("timeoutSec", fmt.Sprintf("Enter a number of seconds from 1 to %d.", limit))
	}
	return found
}

func commandProblem(argv []string) string {
	size := 0
	for _, arg := range argv {
		switch {
		case strings.ContainsRune(arg, 0):
			return "An argument cannot hold a NUL byte."
		case !utf8.ValidString(arg):
			return "An argument must be UTF-8 text."
		}
		size += len(arg) + 1
	}
	switch {
	case len(argv) == 0, argv[0] == "":
		return "Enter a command."
	case len(argv) > environment.MaxArgs:
		return fmt.Sprintf("A command has at most %d arguments.", environment.MaxArgs)
	case size > maxCommandBytes:
		return "A command has at most 128 KiB."
	}
	return ""
}

func cwdProblem(dir string) string {
	switch {
	case strings.ContainsRune(dir, 0):
		return "A folder cannot hold a NUL byte."
	case !utf8.ValidString(dir):
		return "A folder must be UTF-8 text."
	case len(dir) > maxCwd:
		return "A folder's path has at most 4096 bytes."
	}
	return ""
}

// timeout is the run's own, else the default, never more than the cap.
func (in Input) timeout(limit int) int {
	if in.TimeoutSec != nil {
		return *in.TimeoutSec
	}
	return min(limit, int(environment.DefaultRunTimeout/time.Second))
}

// timeoutLimit is the instance's cap on a timeout, in seconds.
func timeoutLimit(s environment.Settings) int {
	longest := int(environment.MaxRunTimeout / time.Second)
	if s.MaxRunTimeout <= 0 {
		return longest
	}
	return min(longest, s.MaxRunTimeout)
}

// cargo is what a run carries to its target, sealed in its row until it is
// there. After that only Mask is kept, until the run has ended: a server that
// takes the run over must mask the same values.
type cargo struct {
	Env   map[string]string `json:"env,omitempty"`
	Stdin []byte            `json:"stdin,omitempty"`
	Mask  []string          `json:"mask,omitempty"`
}

func (s *Service) seal(run uuid.UUID, c cargo) ([]byte, error) {
	if len(c.Env) == 0 && len(c.Stdin) == 0 && len(c.Mask) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	return s.vault.Seal(run, environment.NewSecret(string(text)))
}

func (s *Service) unseal(run environment.Run) (cargo, error) {
	var c cargo
	if len(run.Input) == 0 {
		return c, nil
	}
	text, err := s.vault.Open(run.ID, run.Input)
	if err != nil {
		return c, fmt.Errorf("open what run %s carries: %w", run.ID, err)
	}
	if err := json.Unmarshal([]byte(text.Reveal()), &c); err != nil {
		return c, fmt.Errorf("read what run %s carries: %w", run.ID, err)
	}
	return c, nil
}

// variables merges the run's own variables over the environment's, sorted by
// name.
func (c cargo) variables(of []environment.EnvValue) []environment.EnvValue {
	merged := map[string]environment.EnvValue{}
	for _, v := range of {
		merged[v.Name] = v
	}
	for name, value := range c.Env {
		merged[name] = environment.EnvValue{Name: name, Value: environment.NewSecret(value), Masked: environment.LooksSecret(name, value)}
	}
	list := make([]environment.EnvValue, 0, len(merged))
	for _, name := range slices.Sorted(maps.Keys(merged)) {
		list = append(list, merged[name])
	}
	return list
}
