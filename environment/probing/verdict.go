package probing

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"berth/environment"
)

// conclude turns an outcome into the finished row: every stage has an end, and
// OK only ever means that the driver said so and no stage failed.
func conclude(p environment.Probe, out outcome, now time.Time) environment.Probe {
	p.Stages = out.stages
	for _, stage := range out.result.Stages {
		p.Stages = merge(p.Stages, tidy(stage))
	}
	p.FinishedAt = &now
	p.Host, p.Platform, p.Image = out.result.Host, out.result.Platform, out.result.Image
	p.Presented, p.Trusted = out.result.Presented, out.result.Trusted
	p.State = environment.ProbeDone
	switch {
	case errors.Is(out.cause, errCancelled):
		p.State, p.Code, p.Summary = environment.ProbeCancelled, "", "The test was cancelled."
	case errors.Is(out.cause, errStopping):
		p.State, p.Code = environment.ProbeInterrupted, environment.CodeInterrupted
		p.Summary = "The server stopped during the test of " + p.Target + "."
	case refusedByBudget(out.err):
		p.State, p.Code = environment.ProbeCancelled, environment.CodeBudgetExhausted
		p.Summary = p.Target + " was not tested: " + environment.AsError(out.err).Message
	case out.err != nil:
		e := environment.AsError(out.err)
		p.Code, p.Summary = e.Code, p.Target+": "+e.Message
	case errors.Is(out.cause, errTimedOut) && (out.result.Code == "" || out.result.OK):
		p.Code = environment.CodeTimedOut
		p.Summary = fmt.Sprintf("%s: the test did not end within %s%s.", p.Target, out.limit, during(p.Stages))
	default:
		p.OK, p.Code, p.Summary = out.result.OK, out.result.Code, out.result.Summary
	}
	cleanFacts(&p)
	return settle(p, now)
}

// settle gives every stage an end and makes the verdict agree with them.
func settle(p environment.Probe, now time.Time) environment.Probe {
	p.Stages = slices.Clone(p.Stages)
	for i := range p.Stages {
		switch stage := &p.Stages[i]; {
		case stage.Status == environment.StageRunning, cutOff(*stage, p):
			endRunning(stage, p, now)
		}
		switch stage := &p.Stages[i]; stage.Status {
		case environment.StageOK, environment.StageWarning, environment.StageFailed, environment.StageSkipped:
		default:
			stage.Status = environment.StageSkipped
		}
	}
	if p.State != environment.ProbeDone {
		p.OK = false
		return p
	}
	if i := slices.IndexFunc(p.Stages, func(s environment.Stage) bool { return s.Status == environment.StageFailed }); i >= 0 {
		failed := p.Stages[i]
		p.OK = false
		p.Code = cmp.Or(p.Code, cmp.Or(failed.Code, "internal"))
		p.Summary = cmp.Or(p.Summary, p.Target+": "+failed.Message)
	}
	if p.OK {
		p.Code = ""
	} else {
		p.Code = cmp.Or(p.Code, "internal")
		p.Summary = cmp.Or(p.Summary, p.Target+": the test failed.")
	}
	return p
}

// cutOff: the driver said that a stage was not done in time, because somebody
// cancelled the probe.
func cutOff(stage environment.Stage, p environment.Probe) bool {
	return p.State == environment.ProbeCancelled && stage.Status == environment.StageFailed && stage.Code == environment.CodeTimedOut
}

// endRunning ends a stage that had begun and was never said to have ended.
func endRunning(stage *environment.Stage, p environment.Probe, now time.Time) {
	if stage.StartedAt != nil {
		stage.DurationMs = max(0, now.Sub(*stage.StartedAt).Milliseconds())
	}
	switch p.State {
	case environment.ProbeCancelled:
		stage.Status, stage.Message = environment.StageSkipped, "Cancelled."
		stage.Code, stage.Severity, stage.Remediation = "", "", ""
		return
	case environment.ProbeInterrupted:
		stage.Message = "The server stopped during this stage."
	default:
		stage.Message = cmp.Or(stage.Message, "This stage did not end.")
	}
	stage.Status, stage.Severity = environment.StageFailed, "error"
	stage.Code = cmp.Or(p.Code, "internal")
	stage.Remediation = cmp.Or(stage.Remediation, environment.Remedy(stage.Code))
}

// waitingStages are the stages that a probe of a driver goes through.
func waitingStages(key environment.DriverKey) []environment.Stage {
	names := map[string]func() []string{
		environment.DriverSSH: environment.SSHStages, environment.DriverLocal: environment.LocalStages, environment.DriverSandbox: environment.DockerStages,
	}
	stages := []environment.Stage{}
	if list, ok := names[key.Driver]; ok {
		for _, name := range list() {
			stages = append(stages, tidy(environment.Stage{Name: name, Status: environment.StageWaiting}))
		}
	}
	return stages
}

// merge puts a stage in the place of the one of its name, else at the end.
func merge(stages []environment.Stage, stage environment.Stage) []environment.Stage {
	if i := slices.IndexFunc(stages, func(s environment.Stage) bool { return s.Name == stage.Name }); i >= 0 {
		stages[i] = stage
		return stages
	}
	return append(stages, stage)
}

// tidy fills what is never null and cleans what came from the target.
func tidy(stage environment.Stage) environment.Stage {
	stage.Measured, stage.Limit = cleanMap(stage.Measured), cleanMap(stage.Limit)
	stage.Message, stage.Remediation = environment.CleanText(stage.Message), environment.CleanText(stage.Remediation)
	stage.Severity = cmp.Or(stage.Severity, "info")
	return stage
}

func cleanMap(m map[string]any) map[string]any {
	if clean, ok := environment.CleanValues(m).(map[string]any); ok {
		return clean
	}
	return map[string]any{}
}

// cleanFacts cleans what the target said of itself.
func cleanFacts(p *environment.Probe) {
	p.Summary = environment.CleanText(p.Summary)
	if p.Host != nil {
		p.Host = &environment.HostFacts{Name: environment.CleanText(p.Host.Name), BootID: environment.CleanText(p.Host.BootID)}
	}
	if p.Platform != nil {
		p.Platform = &environment.Platform{
			OS: environment.CleanText(p.Platform.OS), Arch: environment.CleanText(p.Platform.Arch),
			Libc: environment.CleanText(p.Platform.Libc), LibcVersion: environment.CleanText(p.Platform.LibcVersion),
			Distro: environment.CleanText(p.Platform.Distro),
		}
	}
}

func during(stages []environment.Stage) string {
	for _, stage := range stages {
		if stage.Status == environment.StageRunning {
			return "; it was at " + environment.StageTitle(stage.Name)
		}
	}
	return ""
}

// activityOf is the entry of the log for a finished probe.
func activityOf(j job, p environment.Probe) environment.Activity {
	if p.State == environment.ProbeInterrupted {
		return environment.Interruption(p)
	}
	a := environment.Activity{
		ID: environment.NewID(), CompanyID: p.CompanyID, RequestID: j.request,
		Action: "environment.probed", EntityType: "environment", CreatedAt: *p.FinishedAt,
		Details: map[string]any{"driver": p.Driver, "ok": p.OK, "summary": p.Summary, "code": p.Code, "state": string(p.State)},
	}.By(j.actor)
	saved := ""
	if p.EnvironmentID != nil {
		saved = p.EnvironmentID.String()
	}
	a.EntityID = saved
	if p.Draft {
		a.Action, a.EntityID = "environment.probed_unsaved", "unsaved"
		a.Details["configTopLevelKeyCount"] = j.configKeys
		if saved != "" {
			a.Details["environmentId"] = saved
		}
	}
	return a
}
