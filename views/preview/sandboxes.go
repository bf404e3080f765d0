package preview

import (
	"time"

	"berth/environment"
	"berth/environment/example"
	"berth/views"

	"github.com/a-h/templ"
)

// sandboxValues are those of a new form for Docker.
func sandboxValues() views.FormValues {
	v := views.NewFormValues()
	v.Driver, v.Provider, v.Budgeted = environment.DriverSandbox, environment.ProviderDocker, true
	return v.WithFields(example.DockerFields(), nil)
}

func newSandbox() views.Form {
	return views.Form{Values: sandboxValues(), Capabilities: example.SandboxCapabilities(), MayManage: true, Shelf: shelf()}
}

func editSandbox(v environment.EnvironmentView) views.Form {
	usage := example.Usage()
	f := edit(v)
	f.Values, f.Capabilities, f.Usage = views.FormValuesOf(v.Environment).WithFields(example.DockerFields(), v.Config), example.SandboxCapabilities(), &usage
	f.References = map[string]environment.SecretReference{"config.registryPassword": example.SharedReference(example.Secrets()[0], "latest")}
	return f
}

// typed sets what was typed into a field of a sandbox's form.
func typed(v views.FormValues, name, text string) {
	for i := range v.Config {
		if v.Config[i].Field.Name == name {
			v.Config[i].Text = text
		}
	}
}

// invalidSandbox is a new sandbox with several fields wrong.
func invalidSandbox() views.Form {
	f := newSandbox()
	f.Values.Name, f.Values.Budget.MaxLeases = "py-sandbox", "many"
	typed(f.Values, "image", "Registry/App:sha256:9f2c")
	typed(f.Values, "memoryMiB", "lots")
	for i := range f.Values.Config {
		switch c := &f.Values.Config[i]; c.Field.Name {
		case "env":
			c.Rows = []views.ConfigRow{{Key: "LANG", Value: "C.UTF-8"}, {Key: "1ST", Value: "x"}}
		case "registryPassword":
			c.Secret = views.SecretChoice{Source: views.SourcePaste, Sealed: "c2VhbGVk"}
		}
	}
	f.Failed = environment.AsError(environment.InvalidFields([]environment.FieldError{
		{Field: "config.image", Message: "The name of an image is in lower case; only its tag may have capitals."},
		{Field: "config.memoryMiB", Message: "Enter a whole number from 16."},
		{Field: "config.env.1ST", Message: "A name begins with a letter or _."},
		{Field: "budget.maxLeases", Message: "Enter a whole number, or nothing for no limit."}}))
	return f
}

// staleSandbox is an edit that somebody else's save came before.
func staleSandbox() views.Form {
	f := editSandbox(example.ReadySandbox())
	typed(f.Values, "image", example.TaggedImage)
	typed(f.Values, "memoryMiB", "1024")
	f.Values.Revision = 4
	f.Failed = environment.NewError(environment.KindStale, environment.CodeStaleRevision, "“py-sandbox” was changed since you read it.").
		With("changedBy", "dana").With("changedAt", example.Before(3*time.Minute)).With("changedFields", []string{"config.image"})
	return f
}

func sandboxForms() []Preview {
	pinned := newSandbox()
	typed(pinned.Values, "image", example.PinnedImage)
	fake := newSandbox()
	fake.Values.Provider = environment.ProviderFake
	fake.Values = fake.Values.WithFields(nil, nil)
	savedFake := editSandbox(example.FakeSandbox())
	savedFake.Usage = nil
	gone := editSandbox(example.ReadySandbox())
	gone.Capabilities, gone.Values = example.Capabilities(), views.FormValuesOf(example.ReadySandbox().Environment)
	used := example.UsedUp()
	exhausted := editSandbox(example.ReadySandbox())
	exhausted.Usage = &used
	tested := editSandbox(example.TaggedSandbox())
	draftProbe := draft(example.QualifiedProbe())
	for i := range draftProbe.Stages[2:] {
		draftProbe.Stages[2+i] = environment.Stage{Name: draftProbe.Stages[2+i].Name, Status: environment.StageSkipped, Message: "A draft makes nothing."}
	}
	draftProbe.Host, draftProbe.Platform, draftProbe.Qualification, draftProbe.LeaseID = nil, nil, nil, nil
	draftProbe.Summary, draftProbe.Proves = "The engine answers and has the image.", "It proves that the engine and the image can be reached. Nothing was made, so nothing is qualified."
	tested.Probe = &draftProbe
	orphan := editSandbox(example.ManagedSandbox())
	orphan.Saved.Provisioned = false
	card := func(caps *environment.Capabilities, chosen bool) templ.Component {
		return views.ProviderCard(views.NewProviderCard(environment.ProviderDocker, caps, chosen))
	}
	docker, prepared, whole := example.DockerCapabilities(), example.DockerCapabilities(), example.DockerCapabilities()
	prepared.InteractiveSetup, whole.InteractiveSetup, whole.TemplateCapture = true, true, true
	unsupported := example.SandboxCapabilities()[3]
	parts := func(text string) templ.Component { return views.ImageParts(views.NewImageParts(text), false) }
	return []Preview{
		{"environment-form.new.sandbox", Configuration, form(newSandbox())},
		{"environment-form.new.sandbox-pinned", Configuration, form(pinned)},
		{"environment-form.edit.sandbox", Configuration, form(editSandbox(example.ReadySandbox()))},
		{"environment-form.edit.sandbox-budget-used", Configuration, form(exhausted)},
		{"environment-form.edit.sandbox-tested", Probe, form(tested)},
		{"environment-form.invalid.sandbox", Configuration, form(invalidSandbox())},
		{"environment-form.stale.sandbox", Configuration, form(staleSandbox())},
		{"environment-form.provider-unavailable", Configuration, form(savedFake)},
		{"environment-form.provider-unavailable.new", Configuration, form(fake)},
		{"environment-form.driver-missing.sandbox", Configuration, form(gone)},
		{"environment-form.managed", Configuration, form(editSandbox(example.ManagedSandbox()))},
		{"environment-form.managed.not-provisioned", Configuration, form(orphan)},
		{"provider-card.setup-limited", Capabilities, card(&docker, true)},
		{"provider-card.capture-limited", Capabilities, card(&prepared, false)},
		{"provider-card.supported", Capabilities, card(&whole, false)},
		{"provider-card.unavailable", Capabilities, card(&unsupported, false)},
		{"provider-card.unavailable.not-installed", Capabilities, card(nil, true)},
		{"capability-notice.setup-limited.sandbox", Capabilities, views.CapabilityNotice(views.NewCapabilityNotice(docker.Key(), &docker))},
		{"capability-notice.unavailable.provider", Capabilities, views.CapabilityNotice(views.NewCapabilityNotice(unsupported.Key(), &unsupported))},
		{"image-parts.none", Images, parts("")},
		{"image-parts.invalid", Images, parts("Registry/App")},
		{"image-parts.mutable", Images, parts(example.TaggedImage)},
		{"image-parts.pinned", Images, parts(example.PinnedImage)},
	}
}

// sandboxDetail is an environment's page with all that stands beside a test.
func sandboxDetail(v environment.EnvironmentView, tab views.Tab, q *views.Qualification) views.Detail {
	d, usage := detail(v, tab), example.Usage()
	d.Usage, d.Qualification, d.Fields, d.Leases = &usage, q, example.DockerFields(), example.SandboxLeases()
	d.Probes = []environment.Probe{example.QualifiedProbe(), example.FailedSandboxProbe(environment.CodeImageDenied)}
	return d
}

func sandboxPages() []Preview {
	recorded, mutable := qualified(environment.QualificationRecorded), qualified(environment.QualificationAbsent)
	mutable.Last, mutable.Pin = example.NotRecorded(environment.QualMutableImage), example.TaggedImage+"@"+example.Digest
	invalid := sandboxDetail(example.ReadySandbox(), views.TabOverview, recorded)
	invalid.Problems = []environment.FieldError{{Field: "config.memoryMiB", Message: "Enter a whole number from 16 to 16777216 MiB."}}
	unsupported := sandboxDetail(example.FakeSandbox(), views.TabOverview, mutable)
	unsupported.Caps = &example.SandboxCapabilities()[3]
	missing := sandboxDetail(example.ReadySandbox(), views.TabOverview, recorded)
	missing.Caps = nil
	used := example.UsedUp()
	exhausted := sandboxDetail(example.ReadySandbox(), views.TabOverview, recorded)
	exhausted.Usage = &used
	fresh := sandboxDetail(example.UntestedSandbox(), views.TabOverview, qualified(environment.QualificationAbsent))
	fresh.Probes = nil
	start := func(cannot string, usage environment.Usage, company *environment.Company) templ.Component {
		caps := example.DockerCapabilities()
		return views.TestStart(views.NewTestStart(example.ReadySandbox(), &caps, &usage, example.Companies(), company, cannot))
	}
	acme := example.Acme()
	return []Preview{
		{"environment-page.active.sandbox", Configuration, shown(sandboxDetail(example.ReadySandbox(), views.TabOverview, recorded))},
		{"environment-page.active.sandbox-tagged", Images, shown(sandboxDetail(example.TaggedSandbox(), views.TabOverview, mutable))},
		{"environment-page.active.sandbox-never-tested", Configuration, shown(fresh)},
		{"environment-page.active.sandbox-testing", Probe, shown(sandboxDetail(example.TestingSandbox(), views.TabOverview, recorded))},
		{"environment-page.active.sandbox-budget-used", Configuration, shown(exhausted)},
		{"environment-page.active.sandbox-configuration", Configuration, shown(sandboxDetail(example.ReadySandbox(), views.TabConfiguration, nil))},
		{"environment-page.active.image", Images, shown(sandboxDetail(example.ReadySandbox(), views.TabImage, recorded))},
		{"environment-page.active.image-tagged", Images, shown(sandboxDetail(example.TaggedSandbox(), views.TabImage, mutable))},
		{"environment-page.active.sandbox-leases", Leases, shown(sandboxDetail(example.ReadySandbox(), views.TabLeases, nil))},
		{"environment-page.active.sandbox-invalid", Configuration, shown(invalid)},
		{"environment-page.active.managed", Configuration, shown(sandboxDetail(example.ManagedSandbox(), views.TabOverview, qualified(environment.QualificationNotRequired)))},
		{"environment-page.unsupported", Configuration, shown(unsupported)},
		{"environment-page.driver-missing.sandbox", Configuration, shown(missing)},
		{"environment-row.ready.sandbox", Configuration, row(example.ReadySandbox(), true)},
		{"environment-row.ready.sandbox-tagged", Images, row(example.TaggedSandbox(), true)},
		{"environment-row.testing.sandbox", Configuration, row(example.TestingSandbox(), true)},
		{"environment-row.unsupported", Configuration, views.EnvironmentRow(views.NewEnvironmentRow(example.FakeSandbox(), &example.SandboxCapabilities()[3], true, example.Now()))},
		{"environment-row.driver-missing.sandbox", Configuration, row(example.ReadySandbox(), false)},
		{"test-start.ready", Probe, start("", example.Usage(), &acme)},
		{"test-start.ready.pick-company", Probe, start("", example.Usage(), nil)},
		{"test-start.exhausted", Probe, start("", example.UsedUp(), &acme)},
		{"test-start.blocked", Probe, start("A test is under way.", example.Usage(), &acme)},
		{"delete-dialog.ready.sandboxes", Leases, removeSandboxes()},
		{"run-form.ready.sandboxes", Runs, sandboxRunForm(nil)},
		{"run-form.invalid.native", Runs, sandboxRunForm(environment.Conflict(environment.CodeQualificationMissing,
			"The environment is not qualified for native work. Pin its image by digest and test it for this company."))},
		{"run-page.succeeded.container", Runs, runPage(example.ContainerRun(), example.Log())},
	}
}

func removeSandboxes() templ.Component {
	impact := example.Impact()
	impact.Uses.Retained, impact.Uses.PendingCleanup = 2, 1
	return views.DeleteDialog(views.NewDeleteDialog(example.ReadySandbox().Environment, impact, example.Environments(), nil))
}

func sandboxRunForm(failed *environment.Error) templ.Component {
	usable := append(example.Environments(), example.ReadySandbox(), example.TaggedSandbox())
	usage, used := example.Usage(), example.UsedUp()
	allowed := environment.Admission{State: environment.QualificationRecorded, Required: true, Allowed: true}
	refused := environment.Admission{State: environment.QualificationAbsent, Required: true, Code: environment.CodeQualificationMissing,
		Message: "The environment is not qualified for native work. It has no qualification for this company."}
	v := views.NewRunValues()
	v.EnvironmentID, v.Native = example.TaggedSandbox().ID.String(), failed != nil
	tagged := example.TaggedSandbox()
	tagged.Budget = example.Budget()
	return views.RunForm(views.NewRunForm(example.Acme(), v, usable, true, example.Settings(), failed).WithTargets([]views.RunTarget{
		{View: example.ReadySandbox(), Usage: &usage, Admission: &allowed}, {View: tagged, Usage: &used, Admission: &refused}}))
}
