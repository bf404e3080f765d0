package environment

// Stable codes of probe stages and of runs that could not reach their target.
const (
	CodeDNSNotFound           = "dns_not_found"
	CodeDNSTemporary          = "dns_temporary"
	CodeConnectRefused        = "connect_refused"
	CodeConnectTimeout        = "connect_timeout"
	CodeNoRoute               = "no_route"
	CodeGreetingTimeout       = "greeting_timeout"
	CodeNotSSH                = "not_ssh"
	CodeHostKeyUnknown        = "host_key_unknown"
	CodeHostKeyChanged        = "host_key_changed"
	CodeHostKeyRevoked        = "host_key_revoked"
	CodeNoCommonAlgorithm     = "no_common_algorithm"
	CodeLoginRefused          = "login_refused"
	CodeLoginNeedsInteraction = "login_needs_interaction"
	CodeKeyNeedsPassphrase    = "key_needs_passphrase"
	CodeKeyUnreadable         = "key_unreadable"
	CodeShellUnusable         = "shell_unusable"
	CodePlatformUnknown       = "platform_unknown"
	CodeWorkspaceMissing      = "workspace_missing"
	CodeWorkspaceNotWritable  = "workspace_not_writable"
	CodeDiskLow               = "disk_low"
	CodeToolMissing           = "tool_missing"
	CodeToolNotExecutable     = "tool_not_executable"
	CodeClockOff              = "clock_off"
	CodeEngineUnreachable     = "engine_unreachable"
	CodeTimedOut              = "timed_out"
	CodeInterrupted           = "interrupted"
	CodeProviderUnavailable   = "provider_unavailable"
	CodeCredentialMissing     = "credential_missing"
	CodeSecretMissing         = "secret_missing"
	CodeSecretDisabled        = "secret_disabled"
)

// Stable codes beyond probes.
const (
	CodeEnvironmentRequired    = "environment_required"
	CodeEnvironmentNotFound    = "environment_not_found"
	CodeEnvironmentInactive    = "environment_inactive"
	CodeEnvironmentChanged     = "environment_changed"
	CodeEnvironmentsDisabled   = "environments_disabled"
	CodeCompanyMismatch        = "environment_company_mismatch"
	CodeLocalAdminsOnly        = "local_admins_only"
	CodeRateLimited            = "rate_limited"
	CodeEnvironmentMaintenance = "environment_in_maintenance"
	CodeManagedSandboxOnly     = "managed_sandbox_unavailable"
	CodeWorkspaceFailed        = "workspace_realization_failed"
	CodeTerminationUnproven    = "termination_unproven"
	CodeStaleRevision          = "stale_revision"
	CodeNameTaken              = "name_taken"
	CodeSecretInUse            = "secret_in_use"
	CodeTooManySecrets         = "too_many_secrets"
	CodeKeysetChanged          = "keyset_changed" // sealed with a key that was turned over meanwhile
	CodeHostKeyReplaces        = "host_key_replaces"
	CodeConnectionLost         = "connection_lost"
	CodeOutputLimit            = "output_limit"
	CodeCommandNotFound        = "command_not_found"
	CodeUnsupportedAdapter     = "unsupported_adapter_environment"
	CodeCompanyRequired        = "company_required"
)

// Remedy says how to fix a code, in general words; "" for a code without one.
// A stage that knows more says it itself.
func Remedy(code string) string { return remedies[code] }

var remedies = map[string]string{
	CodeDNSNotFound:           "Check the host name, or enter the address itself.",
	CodeDNSTemporary:          "The name server did not answer; try again, and check the server's resolver if it stays so.",
	CodeConnectRefused:        "Nothing listens on that port. Start sshd there or correct the port.",
	CodeConnectTimeout:        "No answer came back. Check the address, the port and any firewall on the way.",
	CodeNoRoute:               "The network has no way to that address. Check the address and the server's routes.",
	CodeGreetingTimeout:       "The port accepts connections but says nothing. Check that sshd, and not something else, listens there.",
	CodeNotSSH:                "Something answers there that is not an SSH server. Check the port.",
	CodeHostKeyUnknown:        "Compare the fingerprint with the one on the host's console, then trust it.",
	CodeHostKeyChanged:        "If the host was rebuilt, compare the fingerprint on its console, then replace the trusted key. If not, somebody may be in between: do not trust it.",
	CodeHostKeyRevoked:        "The known hosts mark this key as revoked. Give the host a new key.",
	CodeNoCommonAlgorithm:     "The host and Berth share no algorithm. Update the SSH server, or trust a key of a type that it has.",
	CodeLoginRefused:          "Check the user name, and that the public key is in authorized_keys or the password is right.",
	CodeLoginNeedsInteraction: "The host asks for more than one stored answer can give. Allow a key login for this user.",
	CodeKeyNeedsPassphrase:    "The key is encrypted. Enter its passphrase.",
	CodeKeyUnreadable:         "Paste the private key again, whole, with its first and last line.",
	CodeShellUnusable:         "The account has no working /bin/sh. Give the user a shell and check its start-up files.",
	CodePlatformUnknown:       "Berth knows Linux and macOS on x64 and arm64.",
	CodeWorkspaceMissing:      "The workspace folder does not exist and cannot be made. Make it, or choose another.",
	CodeWorkspaceNotWritable:  "Give the user write access to the workspace folder, or choose another.",
	CodeDiskLow:               "Free some disk on the target.",
	CodeToolMissing:           "Install the tool on the target, or take it off the list of required tools.",
	CodeToolNotExecutable:     "Make the tool executable for this user.",
	CodeClockOff:              "Set the target's clock, for example with NTP.",
	CodeTimedOut:              "The test did not end within its limit. Try again; if it stays so, look at the last stage that ran.",
	CodeInterrupted:           "The server stopped during the test. Test again.",
	CodeProviderUnavailable:   "The driver of this environment is not installed here.",
	CodeCredentialMissing:     "Give the environment a key or a password.",
	CodeSecretMissing:         "The stored secret is gone. Enter it again.",
	CodeSecretDisabled:        "The stored secret is disabled. Enable it or choose another.",
	CodeConnectionLost:        "The connection broke. Berth tries to take the work up again until the grace ends.",
	CodeEnvironmentsDisabled:  "An instance admin turns environments on under Instance settings, Experimental.",
	CodeCompanyMismatch:       "Choose an environment that uses no other company's secrets, or give it a secret of its own.",
	CodeLocalAdminsOnly:       "Choose another environment: only instance admins run work on the server itself.",
	CodeEnvironmentInactive:   "Restore the environment, or choose another.",
	CodeEnvironmentChanged:    "Start the run again: it then runs on the environment as it is now.",

	CodeEngineUnreachable:    "Check that the engine runs and that its address in the configuration is right.",
	CodeEngineDenied:         "Give Berth's user access to the engine, or correct the credentials for it.",
	CodeEngineTooOld:         "Update the engine: Docker Engine 20.10 or newer, or Podman 4.3 or newer.",
	CodeImageNotFound:        "Correct the image's name, tag or digest, or push it to the registry.",
	CodeRegistryUnreachable:  "Look whether the registry runs and the engine's machine reaches it, or pull the image there beforehand.",
	CodeImageDenied:          "Check the user name and password for the registry, and that they may read this image.",
	CodeImageDigestMismatch:  "Do not use this image: what the registry sends is not what the digest names. Pin the right digest.",
	CodeImageDeleted:         "The image that was qualified is gone. Choose another and test the environment again.",
	CodeCreateFailed:         "Look at what the engine says, and at the limits and the network in the configuration.",
	CodeStartFailed:          "Look at what the engine says; check the image's user, its platform and the runtime.",
	CodeCleanupUnconfirmed:   "Berth goes on cleaning up. Look at the leases of the environment if it stays so.",
	CodeSandboxGone:          "Start it again: a new sandbox is made.",
	CodeSandboxMismatch:      "Release the lease, and start it again: a new sandbox is made.",
	CodeLeaseAcquireFailed:   "Test the environment; it says at which stage a sandbox fails.",
	CodeLeaseInUse:           "Wait until what uses the sandbox has ended, or choose a policy that makes a sandbox for each.",
	CodeBudgetExhausted:      "Wait until leases have ended or the day is over (UTC), or have an instance admin raise the budget.",
	CodeQualificationMissing: "Test the environment for this company, with its image pinned by digest.",
	CodeManagedSandboxOnly:   "Choose another environment, or have an instance admin allow others.",
}
