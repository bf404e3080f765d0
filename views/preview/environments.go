package preview

import (
	"berth/environment"
	"berth/environment/example"
	"berth/views"

	"github.com/a-h/templ"
)

func row(v environment.EnvironmentView, installed bool) templ.Component {
	var caps *environment.Capabilities
	if installed {
		caps = &environment.Capabilities{Driver: v.Driver, Provider: v.Key().Provider}
	}
	return views.EnvironmentRow(views.NewEnvironmentRow(v, caps, true, example.Now()))
}

func rows() []Preview {
	return []Preview{
		{"environment-row.ready", Configuration, row(example.ReadySSH(), true)},
		{"environment-row.untested", Configuration, row(example.Untested(), true)},
		{"environment-row.testing", Configuration, row(example.Testing(), true)},
		{"environment-row.warning", Configuration, row(example.WarningSSH(), true)},
		{"environment-row.unfit", Configuration, row(example.Unfit(), true)},
		{"environment-row.unreachable", Configuration, row(example.Unreachable(), true)},
		{"environment-row.untrusted", Configuration, row(example.UntrustedSSH(), true)},
		{"environment-row.untrusted.changed", Configuration, row(example.ReplacedSSH(), true)},
		{"environment-row.interrupted", Configuration, row(example.Interrupted(), true)},
		{"environment-row.changed", Configuration, row(example.Changed(), true)},
		{"environment-row.archived", Configuration, row(example.Archived(), true)},
		{"environment-row.maintenance", Configuration, row(example.Maintenance(), true)},
		{"environment-row.local", Configuration, row(example.Local(), true)},
		{"environment-row.driver-missing", Configuration, row(example.NoDriver(), false)},
	}
}

func listing(items ...environment.EnvironmentView) views.Listing {
	return views.Listing{Page: environment.Page[environment.EnvironmentView]{Items: items}, Settings: example.Settings(),
		Capabilities: example.Capabilities(), DefaultName: "Local", MayManage: true}
}

func list(l views.Listing) templ.Component {
	return views.EnvironmentsList(views.NewEnvironmentsList(l, example.Now()))
}

func page(l views.Listing) templ.Component {
	return views.EnvironmentsPage(views.NewEnvironmentsPage(l, example.Now()))
}

func lists() []Preview {
	everything := listing(append(example.Environments(), example.ReplacedSSH(), example.Maintenance(), example.NoDriver())...)
	noMatch := listing()
	noMatch.Filter.Query = "gpu"
	archived := listing(example.Archived())
	archived.Filter.Status = environment.StatusArchived
	failed := listing()
	failed.Failed = environment.Unavailable("database_away", "The database does not answer.")
	restricted := listing(reduced(everything.Page.Items...)...)
	restricted.MayManage = false
	off := listing()
	off.Settings = example.SettingsOff()
	offAsk := off
	offAsk.MayManage = false
	sandboxOnly := everything
	sandboxOnly.Settings.EnableManagedSandboxOnly = true
	more := listing(example.Environments()...)
	more.Page.Next = "next"
	loading := views.NewEnvironmentsList(everything, example.Now()).Loading()
	return []Preview{
		{"environments-page.on", Configuration, page(everything)},
		{"environments-page.on.empty", Configuration, page(listing())},
		{"environments-page.on.sandbox-only", Configuration, page(sandboxOnly)},
		{"environments-page.on.failed", Configuration, page(failed)},
		{"environments-page.restricted", Configuration, page(restricted)},
		{"environments-page.flag-off", Configuration, page(off)},
		{"flag-off.switch", Configuration, views.FlagOff(views.NewFlagOff(true, views.Environments))},
		{"flag-off.ask", Configuration, views.FlagOff(views.NewFlagOff(false, views.Environments))},
		{"environments-list.shown", Configuration, list(everything)},
		{"environments-list.shown.more", Configuration, list(more)},
		{"environments-list.shown.archived", Configuration, list(archived)},
		{"environments-list.empty", Configuration, list(listing())},
		{"environments-list.no-match", Configuration, list(noMatch)},
		{"environments-list.loading", Configuration, views.EnvironmentsList(loading)},
		{"environments-list.error", Configuration, list(failed)},
	}
}

// reduced are environments as somebody sees them who may not see where they are.
func reduced(all ...environment.EnvironmentView) []environment.EnvironmentView {
	seen := make([]environment.EnvironmentView, 0, len(all))
	for _, v := range all {
		seen = append(seen, v.Reduced())
	}
	return seen
}

func detail(v environment.EnvironmentView, tab views.Tab) views.Detail {
	caps, company := example.Capabilities()[1], example.Acme()
	companies := example.Companies()
	if v.Driver == environment.DriverLocal {
		caps = example.Capabilities()[0]
	}
	if v.Driver == environment.DriverSandbox {
		caps = example.DockerCapabilities()
	}
	return views.Detail{View: v, Tab: tab, Settings: example.Settings(), Caps: &caps, MayManage: true, Company: &company, Companies: companies,
		Probes: []environment.Probe{example.OKProbe(), example.WarningProbe(), example.FailedProbe(environment.CodeConnectTimeout), example.CancelledProbe()},
		Leases: example.Leases(), Runs: example.Runs(), Activity: example.Activity()}
}

func shown(d views.Detail) templ.Component {
	return views.EnvironmentPage(views.NewEnvironmentPage(d, example.Now()))
}

func pages() []Preview {
	restricted := func(v environment.EnvironmentView, tab views.Tab) templ.Component {
		d := detail(v.Reduced(), tab)
		d.MayManage = false
		for i := range d.Probes {
			d.Probes[i] = d.Probes[i].Reduced()
		}
		for i := range d.Leases {
			d.Leases[i] = d.Leases[i].Reduced()
		}
		return shown(d)
	}
	missingSecret, sharedSecret := detail(example.ReadySSH(), views.TabConfiguration), detail(example.ReadySSH(), views.TabConfiguration)
	missingSecret.References, sharedSecret.References = broken(), sharing()
	missing := detail(example.NoDriver(), views.TabOverview)
	missing.Caps = nil
	off := detail(example.ReadySSH(), views.TabOverview)
	off.Settings = example.SettingsOff()
	fresh := views.Detail{View: example.Untested(), Tab: views.TabOverview, Settings: example.Settings(), Caps: off.Caps, MayManage: true}
	return []Preview{
		{"environment-page.active", Configuration, shown(detail(example.ReadySSH(), views.TabOverview))},
		{"environment-page.active.configuration", Configuration, shown(detail(example.ReadySSH(), views.TabConfiguration))},
		{"environment-page.active.leases", Configuration, shown(detail(example.ReadySSH(), views.TabLeases))},
		{"environment-page.active.runs", Configuration, shown(detail(example.ReadySSH(), views.TabRuns))},
		{"environment-page.active.activity", Configuration, shown(detail(example.ReadySSH(), views.TabActivity))},
		{"environment-page.active.testing", Configuration, shown(detail(example.Testing(), views.TabOverview))},
		{"environment-page.active.changed", Configuration, shown(detail(example.Changed(), views.TabOverview))},
		{"environment-page.active.never-tested", Configuration, shown(fresh)},
		{"environment-page.active.local", Configuration, shown(detail(example.Local(), views.TabOverview))},
		{"environment-page.active.flag-off", Configuration, shown(off)},
		{"environment-page.archived", Configuration, shown(detail(example.Archived(), views.TabOverview))},
		{"environment-page.maintenance", Configuration, shown(detail(example.Maintenance(), views.TabOverview))},
		{"environment-page.driver-missing", Configuration, shown(missing)},
		{"environment-page.read-only", Configuration, restricted(example.ReadySSH(), views.TabOverview)},
		{"environment-page.read-only.untrusted", Configuration, restricted(example.ReplacedSSH(), views.TabOverview)},
		{"environment-page.read-only.runs", Configuration, restricted(example.ReadySSH(), views.TabRuns)},
		{"environment-page.read-only.leases", Configuration, restricted(example.ReadySSH(), views.TabLeases)},
		{"environment-page.active.secrets-broken", Secrets, shown(missingSecret)},
		{"environment-page.active.secrets-shared", Secrets, shown(sharedSecret)},
		{"probe-history.filled", Probe, views.ProbeHistory(views.NewProbeHistory(off.Probes, example.ReadySSH().Recent, example.Now()))},
		{"probe-history.none.elsewhere", Probe, views.ProbeHistory(views.NewProbeHistory(nil, example.ReadySSH().Recent, example.Now()))},
		{"probe-history.none", Probe, views.ProbeHistory(views.NewProbeHistory(nil, nil, example.Now()))},
		{"activity-list.filled", Configuration, views.ActivityList(views.NewActivityList(example.Activity(), example.Now()))},
		{"activity-list.none", Configuration, views.ActivityList(views.NewActivityList(nil, example.Now()))},
	}
}

func capabilities() []Preview {
	ssh := example.Capabilities()[1]
	prepared := environment.Capabilities{Driver: environment.DriverSandbox, DisplayName: "Sandbox", Configure: true, Probe: true, Exec: true, Files: true, InteractiveSetup: true}
	whole := prepared
	whole.TemplateCapture = true
	notice := func(driver string, caps *environment.Capabilities) templ.Component {
		return views.CapabilityNotice(views.NewCapabilityNotice(environment.KeyOf(driver, environment.ProviderDocker), caps))
	}
	return []Preview{
		{"capability-notice.supported", Capabilities, notice(environment.DriverSandbox, &whole)},
		{"capability-notice.unavailable", Capabilities, notice(environment.DriverSandbox, nil)},
		{"capability-notice.setup-limited", Capabilities, notice(environment.DriverSSH, &ssh)},
		{"capability-notice.capture-limited", Capabilities, notice(environment.DriverSandbox, &prepared)},
	}
}
