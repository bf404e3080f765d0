package ssh

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"berth/environment"
)

// Probe reaches the target on a connection of its own and closes it. What the
// target says of itself comes from one script in one session.
func (d *Driver) Probe(ctx context.Context, spec environment.Spec, report func(environment.Stage)) environment.ProbeResult {
	b := newBoard(d.now, report)
	p, err := newPlan(spec.Config, spec)
	if err != nil {
		return refused(b, err)
	}
	l, f := d.connect(ctx, p, b)
	if f != nil {
		return d.ended(b, p, f, nil)
	}
	defer l.close()
	answered := &facts{}
	f = d.examine(ctx, p, l, b, answered)
	result := d.ended(b, p, f, answered)
	result.Pin = l.pin(p.config.KnownHosts)
	return result
}

// refused is the probe of a config that is not one.
func refused(b *board, err error) environment.ProbeResult {
	e := environment.AsError(err)
	f := fail("resolve", e.Code, e.Message, err)
	b.failed(f)
	return environment.ProbeResult{Code: e.Code, Summary: e.Message, Stages: b.result()}
}

// ended makes the verdict.
func (d *Driver) ended(b *board, p *plan, f *failure, answered *facts) environment.ProbeResult {
	result := environment.ProbeResult{OK: f == nil}
	if f != nil {
		b.failed(f)
		result.Code, result.Summary = f.err.Code, f.err.Message
		result.Presented, result.Trusted = f.presented, f.trusted
	} else {
		result.Summary = fmt.Sprintf("%s is ready: %s.", p.config.Target(), answered.describe())
	}
	if answered != nil && answered.host != "" {
		host := answered.hostFacts()
		result.Host = &host
		result.Platform = answered.platform()
	}
	result.Stages = b.result()
	var warnings []string
	for _, s := range result.Stages {
		if s.Status == environment.StageWarning {
			warnings = append(warnings, s.Message)
		}
	}
	if f == nil && len(warnings) > 0 {
		result.Summary = fmt.Sprintf("%s can be used, with a warning: %s", p.config.Target(), strings.Join(warnings, " "))
	}
	return result
}

// describe names the machine that answered.
func (f *facts) describe() string {
	text := f.host
	if platform := f.platform(); platform != nil {
		text += " runs " + platform.OS + "/" + platform.Arch
	}
	return text
}

// examine asks the target what the stages after login are about.
func (d *Driver) examine(ctx context.Context, p *plan, l *link, b *board, answered *facts) *failure {
	ep := p.target()
	b.began("shell", ep)
	channel, err := newSession(ctx, l.client())
	if err != nil {
		if ctx.Err() != nil {
			return timedOut("shell", ep, 0, err)
		}
		return fail("shell", environment.CodeShellUnusable, fmt.Sprintf("%s refuses to open a session (SSH channel).", ep.capital()), err)
	}
	s, err := startShell(ctx, channel, ep, func() {})
	if err != nil {
		return asFailure(err, "shell", ep)
	}
	defer func() { _ = s.Close() }()
	sc := script{mark: newMark(), workspace: p.config.RemoteWorkspacePath, tools: p.config.RequiredTools, full: true}
	e := &examination{d: d, p: p, b: b, ep: ep, facts: answered, asked: d.now()}
	if err = d.ask(ctx, s, ep, sc, e.take); err != nil {
		f := asFailure(err, "shell", ep)
		if b.stage("shell").Status == environment.StageOK { // the shell answered; a later stage did not
			f.stage = b.running()
			f.err = f.err.With("stage", f.stage)
		}
		return f
	}
	return e.verdict()
}

// examination turns answers into stages as they come.
type examination struct {
	d     *Driver
	p     *plan
	b     *board
	ep    endpoint
	facts *facts
	asked time.Time
	fault *failure
}

// take reads an answer and ends the stage that it completes.
func (e *examination) take(a answer) {
	if e.fault != nil {
		return
	}
	e.facts.take(a)
	switch a.key {
	case "home": // user and home are there; the shell works
	case "login":
		e.b.passed("shell", e.ep, fmt.Sprintf("/bin/sh answers for %q.", e.p.config.Username), map[string]any{
			"user": e.facts.user, "home": e.facts.home, "path": e.facts.path, "loginShell": e.facts.login,
		})
		e.b.began("platform", e.ep)
	case "stop", "boot":
		e.fault = e.platform()
		if e.fault == nil {
			e.b.began("workspace", e.ep)
		}
	case "nodir":
		e.fault = e.noWorkspace()
	case "writable", "free":
		if a.key == "free" || (e.facts.writable != nil && !*e.facts.writable) {
			e.fault = e.workspace()
			if e.fault == nil {
				e.b.began("tools", e.ep)
			}
		}
	case "tools":
		if e.fault = e.requiredTools(); e.fault == nil {
			e.b.began("clock", e.ep)
			e.clock()
		}
	}
}

// verdict is the first failure; nil when every stage ended well.
func (e *examination) verdict() *failure {
	if e.fault != nil {
		return e.fault
	}
	for _, s := range e.b.stages {
		if s.Status == environment.StageRunning || s.Status == environment.StageWaiting {
			return fail(s.Name, environment.CodeShellUnusable,
				fmt.Sprintf("/bin/sh on %s ended before it answered for the stage %s.", e.ep, s.Name), errors.New("script ended early"))
		}
	}
	return nil
}
