package supervisor

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"berth/environment"
)

// greet acts on the first word of a session: who the run is, or why there is
// none.
func (s *session) greet(answer string) error {
	w := s.work
	answer = strings.TrimSuffix(answer, "\n")
	word, rest, _ := strings.Cut(answer, "\n")
	if word != "ok" {
		return s.refuse(word)
	}
	if w.known {
		return nil
	}
	w.known = true
	process, host, cwd, err := w.identity(rest)
	if err != nil {
		w.fail(err)
		return nil
	}
	if w.exec.OnStart != nil {
		if err := w.exec.OnStart(process, host, cwd); err != nil {
			w.fail(err)
		}
	}
	return nil
}

// refuse turns the target's reason into an error. Only "stillborn" is worth
// another try: the folder of a start that was cut off has been removed.
func (s *session) refuse(word string) error {
	w := s.work
	if word == "stillborn" && s.start {
		return errBroken
	}
	s.final = true
	switch word {
	case "none", "stillborn":
		if w.known {
			return environment.Unavailable(environment.CodeConnectionLost, "The run's folder on the target is gone.")
		}
		return environment.NewError(environment.KindNotFound, "not_found", "Nothing of this run is on the target.")
	case "fail folder":
		return environment.Invalid(environment.CodeWorkspaceMissing,
			fmt.Sprintf("The working folder %s does not exist on the target, or cannot be entered.", w.dir)).
			Remedy(environment.Remedy(environment.CodeWorkspaceMissing))
	case "fail disk":
		return environment.Unavailable(environment.CodeWorkspaceFailed,
			"The run's folder can be made neither in ~/.berth nor in /tmp on the target.").
			Remedy("Free some disk, or give the user a home folder that it may write to.")
	}
	return environment.Unavailable(environment.CodeShellUnusable, "The shell on the target cannot start a process of its own.").
		Remedy(environment.Remedy(environment.CodeShellUnusable)).With("answer", word)
}

// identity reads the lines pid, start time, boot id, host name, run folder, and
// the working folder, which alone may have newlines in it.
func (w *work) identity(text string) (environment.Process, environment.HostFacts, string, error) {
	f := strings.SplitN(text, "\n", 6)
	if len(f) < 6 {
		return environment.Process{}, environment.HostFacts{}, "", fmt.Errorf("read the identity of the run: %q", text)
	}
	pid, err := strconv.Atoi(f[0])
	if err != nil {
		return environment.Process{}, environment.HostFacts{}, "", fmt.Errorf("read the identity of the run: %w", err)
	}
	return environment.Process{BootID: f[2], Pid: pid, Pgid: pid, StartTime: f[1], Marker: w.exec.Marker, Dir: f[4]},
		environment.HostFacts{Name: f[3], BootID: f[2]}, f[5], nil
}

// record is how a run ended, in the supervisor's words.
type record struct {
	code, leftover int
	how            string
	proven         bool
	sizes          map[environment.Stream]int64
}

// parseRecord reads "code how proven leftover stdout-size stderr-size".
func parseRecord(line string) (*record, error) {
	f := strings.Fields(line)
	if len(f) != 6 {
		return nil, fmt.Errorf("read the end of the run: %q", line)
	}
	var n [6]int64
	var errs []error
	for _, i := range []int{0, 3, 4, 5} {
		var err error
		n[i], err = strconv.ParseInt(f[i], 10, 64)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("read the end of the run: %w", err)
	}
	return &record{code: int(n[0]), how: f[1], proven: f[2] == "1", leftover: int(n[3]),
		sizes: map[environment.Stream]int64{environment.Stdout: n[4], environment.Stderr: n[5]}}, nil
}

// result is the record as the caller sees it; an error of code connection_lost
// when the supervisor is gone without one of its own.
func (r *record) result() (environment.ExecResult, error) {
	result := environment.ExecResult{ExitCode: r.code, Signal: signalOf(r.code), Ended: r.how, Proven: r.proven, Leftover: r.leftover}
	switch r.how {
	case "rebooted":
		return result, environment.Unavailable(environment.CodeConnectionLost, "The target was restarted while the command ran.")
	case "killed":
		return result, environment.Unavailable(environment.CodeConnectionLost, "Somebody killed the supervisor of the command on the target.")
	}
	return result, nil
}

// signalOf names the signal that an exit code likely stands for, "" for none.
func signalOf(code int) string {
	names := map[int]string{1: "HUP", 2: "INT", 3: "QUIT", 4: "ILL", 5: "TRAP", 6: "ABRT", 7: "BUS", 8: "FPE", 9: "KILL",
		10: "USR1", 11: "SEGV", 12: "USR2", 13: "PIPE", 14: "ALRM", 15: "TERM", 16: "STKFLT", 24: "XCPU", 25: "XFSZ", 31: "SYS"}
	return names[code-128]
}
