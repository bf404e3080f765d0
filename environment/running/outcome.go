package running

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"berth/environment"
)

// Words of Run.Termination.
const (
	proven   = "proven"
	unproven = "unproven"
)

// codeFailed is the code of a command that ran and was not content.
const codeFailed = "command_failed"

// settled reports whether how the work ended is in the row already.
func settled(r environment.Run) bool {
	return r.Failure != nil || r.Termination != "" || r.ExitCode != nil
}

// note writes a driver's result into the run. why is what it was halted for.
func note(r *environment.Run, result environment.ExecResult, why error) {
	r.Termination = unproven
	if result.Proven {
		r.Termination = proven
	}
	if result.Ended == "exit" || result.ExitCode != 0 || result.Ended == "output_limit" {
		r.ExitCode = &result.ExitCode
	}
	if result.Signal != "" {
		signal := environment.CleanText(result.Signal)
		r.Signal = &signal
	}
	r.Failure = failureOfResult(r, result, why)
	if result.Ended == "not_started" {
		r.Termination, r.ExitCode, r.Signal = "", nil, nil
		return
	}
	if r.Termination != unproven {
		return
	}
	switch {
	case r.Failure != nil:
		r.Failure.Message += unsure
	case r.CancelBy != nil:
		r.Failure = &environment.Failure{Code: environment.CodeTerminationUnproven, Message: strings.TrimSpace(unsure),
			Remediation: "Look for processes with BERTH_RUN_ID=" + r.ID.String() + " in their environment on " + r.Target + "."}
	}
}

// unsure is told with an end that is not proven.
const unsure = " It could not be proven that nothing of the run is left on the target."

// prove notes that the sandbox in which a run was is gone, by the provider's word:
// nothing of the run can be left.
func prove(r *environment.Run) {
	if r.Termination != unproven {
		return
	}
	r.Termination = proven
	switch {
	case r.Failure == nil:
	case r.Failure.Code == environment.CodeTerminationUnproven:
		r.Failure = nil
	default:
		r.Failure.Message = strings.TrimSuffix(r.Failure.Message, unsure)
	}
}

// failureOfResult says why a result is no success; nil for one that is, and
// for the end that somebody asked for.
func failureOfResult(r *environment.Run, result environment.ExecResult, why error) *environment.Failure {
	timedOut := &environment.Failure{Code: environment.CodeTimedOut, Message: fmt.Sprintf("The command did not end within %d s.", r.TimeoutSec),
		Remediation: "Give the run a longer timeout, or look in its output for what it waited for."}
	switch {
	case result.Ended == "grace":
		return lost(environment.CodeConnectionLost, "No server reached the run within its grace, so it was ended on the target. The output that had arrived is kept.")
	case r.CancelBy != nil || errors.Is(why, errCancel):
		return nil
	case result.Ended == "timeout", result.Ended == "stopped" && errors.Is(why, errOverdue):
		return timedOut
	case result.Ended == "stopped" && errors.Is(why, errNoStart):
		return &environment.Failure{Code: environment.CodeTimedOut, Message: "The target did not start the command in time.", Remediation: "Test the environment."}
	case result.Ended == "exit" && result.ExitCode == 0 && result.Signal == "":
		return nil
	case result.Ended == "exit":
		return exitFailure(result)
	case result.Ended == "output_limit":
		return &environment.Failure{Code: environment.CodeOutputLimit, Message: "The command wrote more output than a run may.",
			Remediation: "Write to a file in the workspace instead."}
	case result.Ended == "not_started":
		return &environment.Failure{Code: environment.CodeWorkspaceFailed, Message: "The command could not be started on " + r.Target + ".",
			Remediation: "Check the working folder, and test the environment."}
	}
	return &environment.Failure{Code: "internal", Message: "The command was ended without anybody having asked for it."}
}

func exitFailure(result environment.ExecResult) *environment.Failure {
	switch {
	case result.Signal != "":
		return &environment.Failure{Code: codeFailed, Message: fmt.Sprintf("The command ended with %d, by signal %s.", result.ExitCode, environment.CleanText(result.Signal))}
	case result.ExitCode == 127:
		return &environment.Failure{Code: environment.CodeCommandNotFound, Message: "The command exited with 127: most likely it does not exist on the target.",
			Remediation: "Check the command's name and the PATH on the target."}
	}
	return &environment.Failure{Code: codeFailed, Message: fmt.Sprintf("The command exited with %d.", result.ExitCode)}
}

func lost(code, message string) *environment.Failure {
	return &environment.Failure{Code: code, Message: message, Remediation: "Start the run again."}
}

// noteError writes into the run that a driver could not say how it ended.
func noteError(r *environment.Run, cause error, why error, resumed bool) {
	began := r.Process != nil
	if began {
		r.Termination = unproven
	}
	code := environment.CodeOf(cause)
	switch {
	case began && resumed && code == notFound:
		r.Failure = lost(environment.CodeInterrupted, "The work was not found on the target any more. The output that had arrived is kept.")
	case !began && (r.CancelBy != nil || errors.Is(why, errCancel)):
		// Nothing was started: there is nothing to say.
	case began && code == environment.CodeSandboxGone && r.CancelBy == nil:
		r.Failure = lost(code, "The sandbox was gone while the command ran in it. The output that had arrived is kept.")
	case began && code == environment.CodeConnectionLost:
		said := environment.CleanText(environment.AsError(cause).Message) // the connection need not be what broke
		r.Failure = lost(code, "The work on "+r.Target+" was lost. "+said+" The output that had arrived is kept.")
	case r.CancelBy != nil, why != nil:
		note(r, environment.ExecResult{Ended: "stopped"}, why)
	default:
		r.Failure = failureOf(cause)
	}
}

// statusOf is the end that belongs to what is noted in a run.
func statusOf(r environment.Run) environment.RunStatus {
	code := ""
	if r.Failure != nil {
		code = r.Failure.Code
	}
	began := r.Process != nil || r.StartedAt != nil
	switch {
	case began && (code == environment.CodeConnectionLost || code == environment.CodeInterrupted || code == environment.CodeSandboxGone):
		return environment.RunLost
	case r.CancelBy != nil:
		return environment.RunCancelled
	case began && code == environment.CodeTimedOut:
		return environment.RunTimedOut
	case r.Failure == nil && r.ExitCode != nil && *r.ExitCode == 0:
		return environment.RunSucceeded
	}
	return environment.RunFailed
}

// leaseOutcome is how the lease of a run ends, and why. Its release gives back
// what acquiring made, which says nothing of processes on a host of somebody's
// own: where the run's end is not proven that is the lease's reason, so that it
// does not look cleaner than the run, which says the rest. So it is for a sandbox
// that could be picked up again, which then is not; one that goes takes all with it.
func leaseOutcome(r environment.Run, config json.RawMessage) (environment.LeaseStatus, string) {
	outcome, reason := leaseEnd(r)
	goes := !environment.BorrowedHost(r.Driver) && len(config) > 0 && !environment.LeaseRulesOf(config).Policy.Reuses()
	if r.Termination == unproven && !goes {
		reason = environment.CodeTerminationUnproven
	}
	return outcome, reason
}

func leaseEnd(r environment.Run) (environment.LeaseStatus, string) {
	switch statusOf(r) {
	case environment.RunSucceeded:
		return environment.LeaseReleased, ""
	case environment.RunCancelled:
		return environment.LeaseExpired, "cancelled"
	}
	if r.Failure != nil {
		return environment.LeaseFailed, r.Failure.Code
	}
	return environment.LeaseFailed, codeFailed
}

// failureOf tells people about an error, with the probe's stage when it is of
// reaching the target.
func failureOf(err error) *environment.Failure {
	e := environment.AsError(err)
	stage := stages[e.Code]
	if said, ok := e.Details["stage"].(string); ok {
		stage = said
	}
	return &environment.Failure{Code: e.Code, Message: environment.CleanText(e.Message),
		Remediation: environment.CleanText(cmp.Or(e.Remediation, environment.Remedy(e.Code))), Stage: stage}
}

// stages are the probe stages to which the codes belong.
var stages = map[string]string{
	environment.CodeDNSNotFound: "resolve", environment.CodeDNSTemporary: "resolve",
	environment.CodeConnectRefused: "connect", environment.CodeConnectTimeout: "connect", environment.CodeNoRoute: "connect",
	environment.CodeGreetingTimeout: "greeting", environment.CodeNotSSH: "greeting",
	environment.CodeHostKeyUnknown: "host_key", environment.CodeHostKeyChanged: "host_key", environment.CodeHostKeyRevoked: "host_key",
	environment.CodeNoCommonAlgorithm: "host_key",
	environment.CodeLoginRefused:      "login", environment.CodeLoginNeedsInteraction: "login", environment.CodeKeyNeedsPassphrase: "login",
	environment.CodeKeyUnreadable: "login", environment.CodeCredentialMissing: "login", environment.CodeSecretMissing: "login",
	environment.CodeSecretDisabled: "login",
	environment.CodeShellUnusable:  "shell", environment.CodePlatformUnknown: "platform",
	environment.CodeWorkspaceMissing: "workspace", environment.CodeWorkspaceNotWritable: "workspace",
}

// noteHost keeps what the target said of itself.
func noteHost(r *environment.Run, host environment.HostFacts) {
	if host == (environment.HostFacts{}) {
		return
	}
	host.Name, host.BootID = environment.CleanText(host.Name), environment.CleanText(host.BootID)
	r.Host = &host
}
