package handlers

import "berth/environment"

// specialSchemas are of fields whose Go type does not say what they hold: words
// of a closed list, and JSON that is kept as it came. Keys are "Type.field".
func specialSchemas() map[string]*schema {
	object := func() *schema { return &schema{Type: "object"} }
	objectOrNull := func() *schema { return &schema{Type: []string{"object", "null"}} }
	health := enum(environment.Healths()...)
	status := enum(environment.StatusActive, environment.StatusArchived, environment.StatusMaintenance)
	driver := enum(environment.DriverLocal, environment.DriverSSH, environment.DriverSandbox, environment.DriverPlugin)
	role := enum(environment.Roles()...)
	version := &schema{AnyOf: []*schema{{Type: "integer", Minimum: new(int64(1))}, {Type: "string"}}}
	return map[string]*schema{
		"Environment.config": object(), "Environment.metadata": objectOrNull(), "Environment.health": health,
		"Environment.status": status, "Environment.driver": driver, "EnvVar.type": enum("plain", "secret_ref"),
		"environmentBody.status": status, "environmentBody.driver": driver, "environmentBody.metadata": objectOrNull(),
		"environmentBody.envVars":     envVarsSchema(version, false),
		"environmentPatchBody.status": status, "environmentPatchBody.driver": driver, "environmentPatchBody.metadata": objectOrNull(),
		"environmentPatchBody.envVars": envVarsSchema(version, true),
		"Check.config":                 objectOrNull(),

		"ProbeDetails.state":  enum(environment.ProbeQueued, environment.ProbeRunning, environment.ProbeDone, environment.ProbeCancelled, environment.ProbeInterrupted),
		"ProbeDetails.health": health, "ProbeResult.driver": driver,
		"Stage.status":   enum(environment.StageWaiting, environment.StageRunning, environment.StageOK, environment.StageWarning, environment.StageFailed, environment.StageSkipped),
		"Stage.severity": enum("", "info", "warning", "error"),

		"Lease.acquisition":      described(&schema{Type: "string"}, "created, resumed or replacement; null until it holds something."),
		"Lease.leasePolicy":      enum(environment.LeasePolicies()...),
		"SandboxProvider.status": enum("supported", "unsupported"), "SandboxProvider.configSchema": objectOrNull(),

		"Run.status": enum(environment.RunStatuses()...), "RunEnvironment.driver": driver,
		"LogChunk.stream":     enum(environment.Stdout, environment.Stderr),
		"Lease.cleanupStatus": described(&schema{Type: "string"}, "pending, success or failed: of giving back what acquiring the lease made. It says nothing of the run's processes."),
		"Lease.failureReason": described(&schema{Type: "string"}, "A code. termination_unproven: given back, but it is not proven that nothing of the run is left on the target."),
		"Lease.status":        enum(environment.LeaseStatuses()...), "Lease.metadata": objectOrNull(), "Lease.receipt": objectOrNull(),
		"Workspace.type": enum("dir", "file"), "FileInfo.type": enum("file", "dir", "symlink", "other"),

		"Activity.actorType": enum(environment.ActorLocalOperator, environment.ActorPerson, environment.ActorAgent, environment.ActorSystem),
		"Me.actorType":       enum(environment.ActorLocalOperator, environment.ActorPerson, environment.ActorAgent),
		"Me.source":          enum("local_implicit", "session", "token", "agent_key"),
		"Membership.role":    role, "SetRole.role": role,
		"Agent.status":    enum("active", "disabled"),
		"Invitation.kind": enum(environment.LinkFirstAdmin, environment.LinkInvitation, environment.LinkPassword),
	}
}

func described(s *schema, text string) *schema {
	s.Description = text
	return s
}

// envVarsSchema is a map of variables as a request has them; in a change, null
// removes one.
func envVarsSchema(version *schema, removes bool) *schema {
	text, id := &schema{Type: "string"}, &schema{Type: "string", Format: "uuid"}
	closed := func(required []string, properties map[string]*schema) *schema {
		return &schema{Type: "object", Required: required, Properties: properties, AdditionalProperties: false}
	}
	forms := []*schema{
		text,
		closed([]string{"type", "value"}, map[string]*schema{"type": enum("plain", "secret"), "value": text}),
		closed([]string{"secretId", "type"}, map[string]*schema{"type": enum("secret_ref"), "secretId": id, "version": version}),
	}
	if removes {
		forms = append(forms, &schema{Type: "null"})
	}
	return &schema{Type: "object", AdditionalProperties: &schema{AnyOf: forms}}
}
