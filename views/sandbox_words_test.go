package views

import (
	"strings"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/example"
)

func TestQualificationSaysWhatToDo(t *testing.T) {
	acme, at := example.Acme(), example.Before(time.Hour)
	digest := example.TaggedImage + "@" + example.Digest
	for name, c := range map[string]struct {
		env  environment.EnvironmentView
		q    Qualification
		want QualificationShownState
		say  string
		pin  bool
	}{
		"nothing yet, by a tag":    {example.UntestedSandbox(), Qualification{Company: &acme}, QualificationAbsent, "Test it once", false},
		"tested by a tag":          {example.TaggedSandbox(), Qualification{Company: &acme, Pin: digest}, QualificationAbsent, "Pin the digest", true},
		"tested, of the engine":    {example.TaggedSandbox(), Qualification{Company: &acme, Local: true}, QualificationAbsent, "from no registry", false},
		"nothing yet, by a digest": {example.ReadySandbox(), Qualification{Company: &acme}, QualificationAbsent, "Test it for this company", false},
		"recorded":                 {example.ReadySandbox(), Qualification{Company: &acme, Admission: environment.Admission{State: environment.QualificationRecorded}}, QualificationRecorded, "Editing the image", false},
		"stale":                    {example.ReadySandbox(), Qualification{Company: &acme, Admission: environment.Admission{State: environment.QualificationStale}}, QualificationStale, "Test again", false},
		"revoked": {example.ReadySandbox(), Qualification{Company: &acme, RevokedFor: environment.RevokedImage, RevokedBy: "dana", RevokedAt: &at,
			Admission: environment.Admission{State: environment.QualificationStateRevoke}}, QualificationRevoked, "does not lift it", false},
		"no company":             {example.ReadySandbox(), Qualification{}, QualificationPick, "", false},
		"managed":                {example.ManagedSandbox(), Qualification{Admission: environment.Admission{State: environment.QualificationNotRequired}}, QualificationNotRequired, "", false},
		"managed, with a digest": {example.ManagedSandbox(), Qualification{Company: &acme, Pin: digest}, QualificationAbsent, "Pin", false},
	} {
		p := NewQualification(c.env.Environment, c.q, true, example.Now())
		if p.state != c.want || !strings.Contains(p.next(), c.say) || p.canPin() != c.pin || p.verdict() == "" {
			t.Errorf("%s: %s, %q, pin %v", name, p.state, p.next(), p.canPin())
		}
		if NewQualification(c.env.Environment, c.q, false, example.Now()).canPin() {
			t.Errorf("%s: a digest is pinned by whoever may not", name)
		}
	}
	revoked := NewQualification(example.ReadySandbox().Environment, Qualification{Company: &acme, RevokedFor: environment.RevokedAccount, RevokedBy: "dana", RevokedAt: &at,
		Admission: environment.Admission{State: environment.QualificationStateRevoke}}, true, example.Now())
	var words []string
	for _, f := range revoked.facts() {
		words = append(words, f.Key+" "+f.Value)
	}
	if all := strings.Join(words, "; "); !strings.Contains(all, "By dana") || !strings.Contains(all, "1 h ago") || !strings.Contains(all, "a credential was changed") {
		t.Errorf("by whom, when and for what: %s", all)
	}
}

func TestLeaseRowOffersWhatWouldBeAllowed(t *testing.T) {
	quiet := example.SandboxLease(environment.LeaseActive)
	quiet.HeartbeatAt = example.Before(environment.LeaseTTL + time.Second)
	probe := example.SandboxLease(environment.LeaseActive)
	probe.OwnerKind, probe.RunID = environment.OwnerProbe, nil
	for name, c := range map[string]struct {
		lease                   environment.Lease
		release, destroy, retry bool
		inUse                   string
	}{
		"a run at work":         {example.SandboxLease(environment.LeaseActive), true, false, false, "Its run uses it"},
		"a test at work":        {probe, true, false, false, "A test uses it"},
		"a holder that is gone": {quiet, true, true, false, ""},
		"an operator's":         {example.LeftLease(), true, true, false, ""},
		"a host's":              {example.Lease(environment.LeaseActive), true, false, false, ""},
		"acquiring":             {example.SandboxLease(environment.LeaseAcquiring), false, false, false, ""},
		"retained":              {example.SandboxLease(environment.LeaseRetained), false, true, false, ""},
		"waiting for clean-up":  {example.SandboxLease(environment.LeasePendingCleanup), false, false, true, ""},
		"dead letter":           {example.DeadLetter(), false, false, true, ""},
		"released":              {example.SandboxLease(environment.LeaseReleased), false, false, false, ""},
	} {
		p := NewLeaseRow(c.lease, "", true, example.Now())
		if p.canRelease() != c.release || p.canDestroy() != c.destroy || p.canRetry() != c.retry || !strings.HasPrefix(p.inUse(), c.inUse) || (p.inUse() == "") != (c.inUse == "") {
			t.Errorf("%s: release %v, destroy %v, retry %v, %q", name, p.canRelease(), p.canDestroy(), p.canRetry(), p.inUse())
		}
		if member := NewLeaseRow(c.lease, "", false, example.Now()); member.canRelease() || member.canDestroy() || member.canRetry() {
			t.Errorf("%s: whoever may nothing is offered something", name)
		}
	}
}

// A row's mark is another when it shows something else, and not when only its
// holder has beaten for it.
func TestLeaseRowMark(t *testing.T) {
	l := example.SandboxLease(environment.LeaseActive)
	mark := func(l environment.Lease) string { return NewLeaseRow(l, "", true, example.Now()).Mark() }
	beaten := l
	beaten.HeartbeatAt, beaten.UpdatedAt = example.Now(), example.Now()
	next := l.HeartbeatAt.Add(2 * environment.LeaseTTL)
	beaten.ExpiresAt = &next
	if mark(beaten) != mark(l) {
		t.Error("a beat changes the mark")
	}
	moved := l
	moved.Status = environment.LeaseReleasing
	if mark(moved) == mark(l) {
		t.Error("a move does not change the mark")
	}
}

func TestTestStartSaysWhatItCosts(t *testing.T) {
	caps, used, free := example.DockerCapabilities(), example.UsedUp(), example.Usage()
	acme := example.Acme()
	start := func(u environment.Usage, cannot string) TestStartProps {
		return NewTestStart(example.ReadySandbox(), &caps, &u, example.Companies(), &acme, cannot)
	}
	var facts []string
	for _, f := range start(free, "").facts() {
		facts = append(facts, f.Key+" "+f.Value)
	}
	if got := strings.Join(facts, "; "); got != "Account team-a engine; Leases in use 1 of 4; Lease-minutes today 37 of 240; Note Ask dana before raising it." {
		t.Errorf("before a test: %s", got)
	}
	if p := start(used, ""); p.state != TestExhausted || !strings.Contains(p.cannot, "All 4 leases") {
		t.Errorf("used up: %s, %q", p.state, p.cannot)
	}
	used.ActiveLeases, used.MinutesToday = 0, 240
	if p := start(used, ""); p.state != TestExhausted || !strings.Contains(p.cannot, "240 lease-minutes") {
		t.Errorf("minutes used up: %s, %q", p.state, p.cannot)
	}
	if p := start(free, "It is archived."); p.state != TestBlocked {
		t.Errorf("archived: %s", p.state)
	}
	caps.StartupBudgetMs = 900_000
	if p := start(free, ""); !strings.Contains(p.does(), "15 min") {
		t.Errorf("it says %q", p.does())
	}
}

func TestSandboxProbeSaysWhereItRan(t *testing.T) {
	p := NewProbePanel(example.QualifiedProbe(), 3, true, example.Now())
	if w := p.where(); !strings.Contains(w, "container 7c1e09b2d4aa,") || strings.Contains(w, "boot") {
		t.Errorf("it says %q", w)
	}
	if images := p.images(); len(images) != 2 || images[0].Value != example.PinnedImage || !strings.HasPrefix(images[1].Value, "sha256:") {
		t.Errorf("of the image %v", images)
	}
	running := NewProbePanel(example.RunningSandboxProbe(1), 3, true, example.Now())
	if running.elapsed != "8" || running.stages[1].step.Elapsed == "" || running.stages[1].step.Text == "" {
		t.Errorf("while it goes on: %q, %+v", running.elapsed, running.stages[1].step)
	}
}
