package views

// actionWords are what each action of the log is called beside its subject, which
// stands in a column of its own. Of a key or a token the name comes before.
func actionWords() map[string]string {
	return map[string]string{
		"access.refused": "was refused",

		"agent.created":     "created",
		"agent.updated":     "changed",
		"agent_key.created": "created",
		"agent_key.revoked": "revoked",
		"token.created":     "created",
		"token.revoked":     "revoked",

		"company.created": "created",

		"environment.created":                "created",
		"environment.updated":                "changed",
		"environment.archived":               "archived",
		"environment.restored":               "restored",
		"environment.deleted":                "deleted",
		"environment.host_key_trusted":       "host key trusted",
		"environment.probed":                 "tested",
		"environment.probed_unsaved":         "tested before it was saved",
		"environment.probe_interrupted":      "test interrupted",
		"environment.lease_acquired":         "acquired",
		"environment.lease_failed":           "could not be acquired",
		"environment.lease_released":         "released",
		"environment.lease_reaped":           "released, as its server was gone",
		"environment.lease_retained":         "stopped and kept",
		"environment.lease_cleanup_failed":   "clean-up failed",
		"environment.lease_cleanup_retried":  "clean-up tried again",
		"environment.sandbox_orphan_removed": "removed, as no lease held it",

		"instance.first_admin_link_created": "link for the first admin created",
		"instance.managed_sandbox.changed":  "managed sandbox changed",
		"instance.settings.updated":         "settings changed",
		"keyset.rotated":                    "master key turned over",

		"person.invited":               "invited",
		"person.joined":                "joined",
		"person.link_revoked":          "link revoked",
		"person.password_changed":      "password changed",
		"person.password_link_created": "link for a new password created",
		"person.role_changed":          "role changed",
		"person.sign_in_failed":        "sign-in failed",
		"person.signed_in":             "signed in",
		"person.signed_out":            "signed out",
		"person.updated":               "changed",

		"run.started":     "started",
		"run.cancelled":   "cancelled",
		"run.failed":      "failed",
		"run.lost":        "lost",
		"run.not_started": "could not be started",
		"run.timed_out":   "timed out",

		"secret.created":  "created",
		"secret.updated":  "changed",
		"secret.rotated":  "got a new value",
		"secret.disabled": "disabled",
		"secret.enabled":  "enabled",
		"secret.deleted":  "deleted",
	}
}
