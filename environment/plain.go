package environment

import "errors"

// Plainly says what a code means in words that name no host, address, user or
// folder: what may be told to somebody who may not see where a target is.
func Plainly(code string) string {
	if text, ok := plain[code]; ok {
		return text
	}
	return "It failed. An instance admin sees the details."
}

var plain = map[string]string{
	"":                        "Everything was fine.",
	CodeDNSNotFound:           "The target's name is not known.",
	CodeDNSTemporary:          "The target's name could not be looked up.",
	CodeConnectRefused:        "The target refused the connection.",
	CodeConnectTimeout:        "The target did not answer.",
	CodeNoRoute:               "There is no way to the target.",
	CodeGreetingTimeout:       "The target took the connection and said nothing.",
	CodeNotSSH:                "What answers is not an SSH server.",
	CodeHostKeyUnknown:        "The target's key is not trusted yet.",
	CodeHostKeyChanged:        "The target shows another key than the trusted one.",
	CodeHostKeyRevoked:        "The target's key is revoked.",
	CodeNoCommonAlgorithm:     "The target and Berth share no algorithm.",
	CodeLoginRefused:          "The target refused the login.",
	CodeLoginNeedsInteraction: "The target asks for more than a stored login.",
	CodeKeyNeedsPassphrase:    "The login's key needs a passphrase.",
	CodeKeyUnreadable:         "The login's key cannot be read.",
	CodeShellUnusable:         "The target's shell cannot be used.",
	CodePlatformUnknown:       "The target's platform is not known.",
	CodeWorkspaceMissing:      "The workspace folder cannot be made.",
	CodeWorkspaceNotWritable:  "The workspace folder cannot be written to.",
	CodeWorkspaceFailed:       "The workspace could not be made ready.",
	CodeDiskLow:               "The target's disk is nearly full.",
	CodeToolMissing:           "A tool is missing on the target.",
	CodeToolNotExecutable:     "A tool on the target cannot be executed.",
	CodeClockOff:              "The target's clock is off.",
	CodeEngineUnreachable:     "The engine does not answer.",
	CodeEngineDenied:          "The engine refused the server.",
	CodeEngineTooOld:          "The engine is too old.",
	CodeImageNotFound:         "There is no such image.",
	CodeRegistryUnreachable:   "The registry does not answer.",
	CodeImageDenied:           "The registry refused the image.",
	CodeImageDigestMismatch:   "The registry sent another image than the one that is meant.",
	CodeImageDeleted:          "The image that was qualified is gone.",
	CodeCreateFailed:          "The sandbox could not be made.",
	CodeStartFailed:           "The sandbox did not start.",
	CodeCleanupUnconfirmed:    "It is not confirmed that the sandbox is gone.",
	CodeSandboxGone:           "The sandbox is gone.",
	CodeSandboxMismatch:       "The sandbox is another than the one that was leased.",
	CodeLeaseAcquireFailed:    "No sandbox could be had.",
	CodeLeaseInUse:            "Somebody else is using the sandbox.",
	CodeBudgetExhausted:       "The environment's budget is used up.",
	CodeQualificationMissing:  "The environment's image is not qualified for this company.",
	CodeTimedOut:              "It did not end within its limit.",
	CodeInterrupted:           "The server stopped in between.",
	CodeProviderUnavailable:   "The environment's driver is not installed.",
	CodeCredentialMissing:     "The environment has no login.",
	CodeSecretMissing:         "A stored secret is gone.",
	CodeSecretDisabled:        "A stored secret is disabled.",
	CodeCompanyMismatch:       "The environment uses another company's secret.",
	CodeConnectionLost:        "The connection to the target was lost.",
	CodeTerminationUnproven:   "It could not be proven that nothing is left on the target.",
	CodeEnvironmentNotFound:   "The environment was deleted.",
	CodeEnvironmentChanged:    "The environment was given another target before the run began.",
}

// ownWords are the codes whose messages speak of a command or a file of the
// workspace only, so that whoever may read the run may read them.
var ownWords = map[string]bool{
	"command_failed": true, CodeCommandNotFound: true, CodeOutputLimit: true,
	"path_escapes": true, "file_not_found": true, "file_forbidden": true, "file_unreadable": true, "not_a_file": true,
	"workspace_not_found": true, "run_not_found": true, "database_unavailable": true, "server_stopping": true,
}

// WithoutTarget is an error in words that name no target, for somebody who may
// not see where it is. Kind and code stay, and so does the cause, which is for
// the log. What is no Error is answered neutrally anyway.
func WithoutTarget(err error) error {
	e, ours := errors.AsType[*Error](err)
	if !ours || ownWords[e.Code] {
		return err
	}
	return NewError(e.Kind, e.Code, Plainly(e.Code)).Remedy(Remedy(e.Code)).Because(err)
}
