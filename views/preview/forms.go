package preview

import (
	"time"

	"berth/environment"
	"berth/environment/example"
	"berth/views"

	"github.com/a-h/templ"
)

func edit(v environment.EnvironmentView) views.Form {
	return views.Form{Values: views.FormValuesOf(v.Environment), Saved: &v, Capabilities: example.Capabilities(), MayManage: true, Shelf: shelf(),
		References: example.SecretReferences()}
}

func form(f views.Form) templ.Component {
	return views.EnvironmentForm(views.NewEnvironmentForm(f, example.Now()))
}

// invalid is a new environment with several fields wrong.
func invalid() views.Form {
	v := views.NewFormValues()
	v.Host, v.Port, v.Username, v.Workspace = "build.example.net", "0", "deploy", "work"
	v.Vars = []views.VarValue{{Name: "1X", Value: environment.NewSecret("y")}}
	e := environment.AsError(environment.InvalidFields([]environment.FieldError{
		{Field: "name", Message: "Enter a name."}, {Field: "config.port", Message: "A port is between 1 and 65535."},
		{Field: "config.remoteWorkspacePath", Message: "Enter an absolute path, for example /srv/work."},
		{Field: "envVars.1X", Message: environment.EnvNameProblem("1X")}}))
	return views.Form{Values: v, Capabilities: example.Capabilities(), MayManage: true, Failed: e, Shelf: shelf()}
}

// stale is an edit that somebody else's save came before.
func stale() views.Form {
	f := edit(example.ReadySSH())
	f.Values.Port, f.Values.Description, f.Values.Revision = "22", "The build machine", 4
	f.Failed = environment.NewError(environment.KindStale, environment.CodeStaleRevision, "“build-box” was changed since you read it.").
		With("changedBy", "dana").With("changedAt", example.ReadySSH().UpdatedAt).With("changedFields", []string{"config.port", "config.privateKeySecretRef"})
	f.Values.Password = views.SecretChoice{Source: views.SourcePaste, Sealed: "c2VhbGVk"}
	return f
}

// deleted is an edit of what somebody deleted meanwhile.
func deleted() views.Form {
	f := edit(example.ReadySSH())
	f.Values.Description = "The build machine"
	f.Deleted = &views.Deletion{Entry: environment.Activity{Action: "environment.deleted", ActorName: "dana", CreatedAt: example.Before(3 * time.Minute),
		Details: map[string]any{"name": f.Values.Name}}}
	f.Values, f.Deleted.Lost = f.Values.AsNew()
	f.Saved, f.References = nil, nil
	return f
}

func forms() []Preview {
	fresh := views.Form{Values: views.NewFormValues(), Capabilities: example.Capabilities(), MayManage: true, Shelf: shelf()}
	pasted := edit(example.ReadySSH())
	values, read := dotEnv()
	pasted.Values, pasted.DotEnv = values, &read
	noRefs := edit(example.ReadySSH())
	noRefs.References = broken()
	chosen := edit(example.ReadySSH())
	chosen.References = sharing()
	noKey := edit(example.UntrustedSSH())
	noKey.Saved.Config = []byte(`{"host":"new.example.net","port":22,"username":"deploy","remoteWorkspacePath":"/srv/work","strictHostKeyChecking":true,"keepAliveSec":15,"minFreeMB":512}`)
	noKey.Values = views.FormValuesOf(noKey.Saved.Environment)
	failed := edit(example.ReadySSH())
	failed.Failed = environment.Unavailable("database_away", "The database does not answer.")
	restricted := edit(example.ReadySSH())
	restricted.MayManage = false
	advanced := edit(example.ReadySSH())
	advanced.Values.ProxyJump, advanced.Values.UseAgent, advanced.Values.FirstUse = "ops@bastion.example.net:22", true, true
	tested := edit(example.ReplacedSSH())
	probe := draft(example.FailedProbe(environment.CodeHostKeyChanged))
	tested.Probe = &probe
	return []Preview{
		{"environment-form.new", Configuration, form(fresh)},
		{"environment-form.edit", Configuration, form(edit(example.ReadySSH()))},
		{"environment-form.edit.advanced", Configuration, form(advanced)},
		{"environment-form.edit.dotenv", Secrets, form(pasted)},
		{"environment-form.edit.secrets-broken", Secrets, form(noRefs)},
		{"environment-form.edit.secrets-shared", Secrets, form(chosen)},
		{"environment-form.edit.local", Configuration, form(edit(example.Local()))},
		{"environment-form.edit.tested", Probe, form(tested)},
		{"environment-form.credential-missing", Configuration, form(noKey)},
		{"environment-form.invalid", Configuration, form(invalid())},
		{"environment-form.stale", Configuration, form(stale())},
		{"environment-form.deleted", Configuration, form(deleted())},
		{"environment-form.saving", Configuration, views.EnvironmentForm(views.NewEnvironmentForm(edit(example.ReadySSH()), example.Now()).Saving())},
		{"environment-form.save-error", Configuration, form(failed)},
		{"environment-form.driver-missing", Configuration, form(edit(example.NoDriver()))},
		{"environment-form.restricted", Configuration, form(restricted)},
		{"key-facts.readable", Configuration, views.KeyFacts(views.NewKeyFacts(example.KeyFacts(), nil))},
		{"key-facts.weak", Configuration, views.KeyFacts(views.NewKeyFacts(example.WeakKeyFacts(), nil))},
		{"key-facts.generated", Configuration, views.KeyFacts(views.NewGeneratedKey(example.KeyFacts(), "c2VhbGVk"))},
		{"key-facts.unreadable", Configuration, views.KeyFacts(views.NewKeyFacts(environment.KeyFacts{},
			environment.Invalid(environment.CodeKeyUnreadable, "This is a public key. Paste the private one.")))},
		{"scan-result.found", Configuration, views.ScanResult(views.NewScanResult(example.HostKeys(), nil))},
		{"scan-result.failed", Configuration, views.ScanResult(views.NewScanResult(nil,
			environment.Unavailable(environment.CodeConnectRefused, "build.example.net port 2222 refuses connections.").Remedy(environment.Remedy(environment.CodeConnectRefused))))},
		{"client-config.read", Configuration, views.ClientConfig(views.NewClientConfig(map[string]any{"host": "10.2.0.14", "port": 2222, "username": "agent"}, []string{"ForwardAgent"}, nil))},
		{"client-config.failed", Configuration, views.ClientConfig(views.NewClientConfig(nil, nil, environment.Invalid("ssh_config_unreadable", "There is no Host line in this text.")))},
	}
}

func trust(v environment.EnvironmentView, presented []environment.HostKey, failed *environment.Error) templ.Component {
	return views.TrustDialog(views.NewTrustDialog(v.Environment, presented, "", failed))
}

func remove(impact environment.Impact, failed *environment.Error) templ.Component {
	return views.DeleteDialog(views.NewDeleteDialog(example.ReadySSH().Environment, impact, example.Environments(), failed))
}

func dialogs() []Preview {
	reassign := example.Impact()
	reassign.IsDefault, reassign.Blocked = true, []string{"instance_default"}
	agents := example.Impact()
	agents.Uses.AgentDefaults, agents.Blocked = 3, []string{"agent_default"}
	changed := environment.Conflict("host_key_not_presented", "The host does not present that key any more.")
	return []Preview{
		{"trust-dialog.unknown", Probe, trust(example.UntrustedSSH(), example.HostKeys(), nil)},
		{"trust-dialog.replace", Probe, trust(example.ReplacedSSH(), []environment.HostKey{example.NewHostKey()}, nil)},
		{"trust-dialog.replace.refused", Probe, trust(example.ReplacedSSH(), []environment.HostKey{example.NewHostKey()}, changed)},
		{"trust-dialog.already", Probe, trust(example.ReadySSH(), example.HostKeys(), nil)},
		{"trust-dialog.failed", Probe, trust(example.Unreachable(), nil, environment.Unavailable(environment.CodeConnectRefused, "build.example.net port 2222 refuses connections."))},
		{"delete-dialog.ready", Configuration, remove(example.Impact(), nil)},
		{"delete-dialog.reassign", Configuration, remove(reassign, nil)},
		{"delete-dialog.reassign.agents", Configuration, remove(agents, nil)},
		{"delete-dialog.reassign.not-chosen", Configuration, remove(reassign, environment.Conflict("environment_in_use", "The environment is in use."))},
		{"delete-dialog.blocked", Configuration, remove(example.ImpactBlocked(), nil)},
	}
}
