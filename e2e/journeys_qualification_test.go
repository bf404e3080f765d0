package e2e

import "testing"

// imageTab visits what a page says of an environment's image for a company.
func (b *tab) imageTab(environment, company string) {
	b.t.Helper()
	b.visit(pages + "/" + environment + "?tab=image&company=" + company)
}

// testsFrom begins a test on the tab of the image, whose end is on the overview.
func (b *tab) testsFrom(environment, company, state string) {
	b.t.Helper()
	b.imageTab(environment, company)
	b.takesOption("#test-company", company)
	b.click("#begin-test")
	b.at(pages + "/" + environment + `(\?.*)?$`)
	b.inState("#test", state)
}

// TestJourney_SandboxQualification: a tag qualifies nothing; its digest is pinned
// with one click and qualifies for one company, until the image is edited.
func TestJourney_SandboxQualification(t *testing.T) {
	t.Parallel()
	s := newSandboxes(t)
	other := site(t).company
	tag := s.registry.Address + "/team/agent:1"
	pinned := tag + "@" + s.registry.Push(t, s.engine, s.engine.Musl(t), "team/agent:1")
	env := s.save(t, unique("Qualified"), tag, nil)
	b := open(t, s.url, desktop)
	b.imageTab(env, s.company)
	b.inState("#qualification", "absent")
	b.testsFrom(env, s.company, "ready")
	b.reads("#probe-qualification", "not recorded")
	b.imageTab(env, s.company)
	b.inState("#qualification", "absent")
	b.press("Pin this tag's digest")
	b.at("tab=image")
	b.reads("#image", pinned)
	b.testsFrom(env, s.company, "ready")
	b.reads("#test", "Platform qualification recorded.")

	b.imageTab(env, other)
	b.inState("#qualification", "absent")
	b.takesOption("#qualification-company", s.company)
	b.inState("#qualification", "recorded")
	b.reads("#qualification", "musl")

	b.edits(env, tag)
	b.imageTab(env, s.company)
	b.inState("#qualification", "revoked")
	b.reads("#qualification", "local operator")
	b.edits(env, pinned)
	b.imageTab(env, s.company)
	b.inState("#qualification", "revoked")
	b.reads("#qualification", "does not lift it")
	b.testsFrom(env, s.company, "ready")
	b.imageTab(env, s.company)
	b.inState("#qualification", "recorded")

	digest := pinned[len(tag)+1:]
	s.registry.Stop(t)
	s.engine.Untag(t, s.registry.Address+"/team/agent@"+digest)
	b.testsFrom(env, s.company, "unreachable")
	b.imageTab(env, s.company)
	b.inState("#qualification", "revoked")
	s.isEmpty(t, env, "at the end")
}

// edits saves another image in the form.
func (b *tab) edits(environment, image string) {
	b.t.Helper()
	b.visit(pages + "/" + environment + "/edit")
	b.fill("#f-config-image", image)
	b.press("Save changes")
	b.at(pages + "/" + environment + `(\?.*)?$`)
}

// TestJourney_SandboxPick: with companies and none picked, a page says that one is
// to be picked, and a test wants one.
func TestJourney_SandboxPick(t *testing.T) {
	t.Parallel()
	s := newSandboxes(t)
	site(t) // so that there are two
	env := s.save(t, unique("Whose"), s.engine.Busybox(t), nil)
	b := open(t, s.url, desktop)
	b.visit(pages + "/" + env)
	b.inState("#qualification-notice", "pick-company")
	b.visit(pages + "/" + env + "?tab=image")
	b.inState("#qualification", "pick-company")
	b.visit(pages + "/" + env)
	b.press("Test")
	b.counts("#test-company:invalid:focus", 1)
	b.takesOption("#test-company", s.company)
	b.press("Test")
	b.sees("#test[data-state=ready], #test[data-state=warning]")
	b.reads("#probe-qualification", "not recorded")
}
