package preview

import (
	"time"

	"berth/environment"
	"berth/environment/example"
	"berth/views"

	"github.com/a-h/templ"
)

func sandboxProbes() []Preview {
	noted := func(code string) environment.Probe {
		p := example.QualifiedProbe()
		p.Qualification = example.NotRecorded(code)
		return p
	}
	all := []Preview{
		{"probe-panel.pending.sandbox", Probe, panel(example.QueuedSandboxProbe())},
		{"probe-panel.ready.sandbox", Probe, panel(example.QualifiedProbe())},
		{"probe-panel.ready.not-recorded-mutable", Images, panel(noted(environment.QualMutableImage))},
		{"probe-panel.ready.not-recorded-cleanup", Images, panel(noted(environment.QualCleanup))},
		{"probe-panel.ready.not-recorded-changed", Images, panel(noted(environment.QualConfigChanged))},
		{"probe-panel.ready.not-recorded-company", Images, panel(noted(environment.QualCompanyRequired))},
		{"probe-panel.ready.not-required", Images, panel(noted(environment.QualManagedNotNeeded))},
		{"probe-panel.ready.cannot-qualify", Images, panel(noted(environment.QualUnsupported))},
	}
	for i, stage := range environment.DockerStages() {
		all = append(all, Preview{"probe-panel.running.sandbox-" + stage, Probe, panel(example.RunningSandboxProbe(i))})
	}
	for _, code := range example.SandboxFailureCodes() {
		all = append(all, Preview{"probe-panel." + failureState(code) + "." + code, Probe, panel(example.FailedSandboxProbe(code))})
	}
	return all
}

// qualified is how a platform stands for Acme.
func qualified(state environment.QualificationState) *views.Qualification {
	acme, measured, revoked := example.Acme(), example.Before(4*time.Minute), example.Before(50*time.Second)
	q := &views.Qualification{Companies: example.Companies(), Company: &acme, Admission: environment.Admission{State: state}}
	if state == environment.QualificationAbsent || state == environment.QualificationNotRequired {
		return q
	}
	q.Platform, q.MeasuredAt, q.Last = example.QualifiedProbe().Platform, &measured, example.QualifiedProbe().Qualification
	if state == environment.QualificationStateRevoke {
		q.RevokedFor, q.RevokedBy, q.RevokedAt = environment.RevokedImage, "dana", &revoked
	}
	return q
}

func qualifications() []Preview {
	both := func(variant string, v environment.EnvironmentView, q *views.Qualification) []Preview {
		p := views.NewQualification(v.Environment, *q, true, example.Now())
		return []Preview{{"qualification-panel." + variant, Images, views.QualificationPanel(p)}, {"qualification-notice." + variant, Images, views.QualificationNotice(p)}}
	}
	var all []Preview
	for _, state := range environment.QualificationStates() {
		all = append(all, both(string(state), example.ReadySandbox(), qualified(state))...)
	}
	pin := qualified(environment.QualificationAbsent)
	pin.Last, pin.Pin = example.NotRecorded(environment.QualMutableImage), example.TaggedImage+"@"+example.Digest
	unread := qualified(environment.QualificationAbsent)
	nobody := qualified(environment.QualificationAbsent)
	nobody.Company = nil
	local := qualified(environment.QualificationAbsent)
	local.Last, local.Local = example.NotRecorded(environment.QualMutableImage), true
	failed := qualified(environment.QualificationStateRevoke)
	failed.RevokedFor, failed.RevokedBy, failed.Last = environment.RevokedProbe, "", example.NotRecorded(environment.QualProbeFailed)
	for _, more := range [][]Preview{both("absent.pin", example.TaggedSandbox(), pin), both("absent.untested-tag", example.UntestedSandbox(), unread),
		both("absent.local-image", example.TaggedSandbox(), local),
		both("pick-company", example.ReadySandbox(), nobody), both("revoked.probe-failed", example.ReadySandbox(), failed)} {
		all = append(all, more...)
	}
	return all
}

// leases are rows, lists, the page and the dialog.
func leases() []Preview {
	row := func(l environment.Lease, mayManage bool) templ.Component {
		return views.LeaseRow(views.NewLeaseRow(l, example.Acme().Name, mayManage, example.Now()))
	}
	listing := func(change func(*views.LeaseListing)) views.LeaseListing {
		l := views.LeaseListing{Leases: example.SandboxLeases(), Companies: example.Companies(), Environments: example.Environments(), MayManage: true}
		if change != nil {
			change(&l)
		}
		return l
	}
	list := func(change func(*views.LeaseListing)) views.LeaseListProps {
		return views.NewLeaseList(listing(change), example.Now())
	}
	page := func(change func(*views.LeaseListing)) templ.Component {
		return views.LeasesPage(views.NewLeasesPage(listing(change), example.Now()))
	}
	destroy := func(l environment.Lease, failed *environment.Error) templ.Component {
		return views.LeaseDestroy(views.NewLeaseDestroy(l, failed, example.Now()))
	}
	none := func(l *views.LeaseListing) { l.Leases = nil }
	failed := func(l *views.LeaseListing) {
		l.Failed = environment.Unavailable("database_away", "The database does not answer.")
	}
	reduced := func(l *views.LeaseListing) {
		l.MayManage = false
		for i := range l.Leases {
			l.Leases[i] = l.Leases[i].Reduced()
		}
	}
	inUse := environment.Conflict(environment.CodeLeaseInUse, "A run is at work in it.").Remedy("Cancel the run first.")
	all := []Preview{
		{"lease-row.dead-letter", Leases, row(example.DeadLetter(), true)},
		{"lease-row.active.left", Leases, row(example.LeftLease(), true)},
		{"lease-row.active.host", Leases, row(example.Lease(environment.LeaseActive), true)},
		{"lease-row.active.restricted", Leases, row(example.SandboxLease(environment.LeaseActive).Reduced(), false)},
		{"lease-list.filled", Leases, views.LeaseList(list(nil))},
		{"lease-list.filled.more", Leases, views.LeaseList(list(func(l *views.LeaseListing) { l.Next = "next" }))},
		{"lease-list.filled.hosts", Leases, views.LeaseList(views.NewLeaseList(views.LeaseListing{Leases: example.Leases(), MayManage: true}, example.Now()))},
		{"lease-list.none", Leases, views.LeaseList(list(none))},
		{"lease-list.none.of-environment", Leases, views.LeaseList(list(func(l *views.LeaseListing) { l.Leases, l.OfEnvironment = nil, true }))},
		{"lease-list.no-match", Leases, views.LeaseList(list(func(l *views.LeaseListing) { l.Leases, l.Filter.Dead = nil, true }))},
		{"lease-list.loading", Leases, views.LeaseList(list(nil).Loading())},
		{"lease-list.error", Leases, views.LeaseList(list(failed))},
		{"leases-page.shown", Leases, page(nil)},
		{"leases-page.shown.none", Leases, page(none)},
		{"leases-page.shown.error", Leases, page(failed)},
		{"leases-page.shown.filtered", Leases, page(func(l *views.LeaseListing) { l.Filter.Dead, l.Leases = true, l.Leases[:1] })},
		{"leases-page.restricted", Leases, page(reduced)},
		{"lease-destroy.ready", Leases, destroy(example.SandboxLease(environment.LeaseRetained), nil)},
		{"lease-destroy.refused", Leases, destroy(example.SandboxLease(environment.LeaseActive), inUse)},
		{"lease-destroy.over", Leases, destroy(example.SandboxLease(environment.LeaseReleased), nil)},
	}
	for _, status := range environment.LeaseStatuses() {
		all = append(all, Preview{"lease-row." + string(status), Leases, row(example.SandboxLease(status), true)})
	}
	return all
}
