package local

import (
	"context"
	"fmt"
	"runtime"

	"berth/environment"
)

// Probe looks at this machine and the workspace folder: one stage, host, which
// says that it proves no more than these.
func (d *Driver) Probe(ctx context.Context, _ environment.Spec, report func(environment.Stage)) environment.ProbeResult {
	began := d.opts.Now()
	at := began.UTC()
	stage := environment.Stage{Name: "host", Status: environment.StageRunning, Severity: "info", StartedAt: &at,
		Measured: map[string]any{}, Limit: map[string]any{}}
	report(stage)
	host, err := d.look(ctx)
	stage.DurationMs = d.opts.Now().Sub(began).Milliseconds()
	result := environment.ProbeResult{OK: err == nil}
	if err == nil {
		stage.Status = environment.StageOK
		stage.Measured = map[string]any{"hostname": host.Name, "bootId": host.BootID, "workspace": d.dir, "os": runtime.GOOS}
		stage.Message = fmt.Sprintf("This server is %s, and %s can be written to. This proves the host and the folder only, not that a command works there.", host.Name, d.dir)
		result.Host = &host
		result.Summary = "The server's own host and workspace folder are there; nothing was run."
	} else {
		e := environment.AsError(err)
		stage.Status, stage.Severity, stage.Code, stage.Message, stage.Remediation = environment.StageFailed, "error", e.Code, e.Message, e.Remediation
		result.Code, result.Summary = e.Code, e.Message
	}
	report(stage)
	result.Stages = []environment.Stage{stage}
	return result
}

func (d *Driver) look(ctx context.Context) (environment.HostFacts, error) {
	if err := ctx.Err(); err != nil {
		return environment.HostFacts{}, environment.NewError(environment.KindTimeout, environment.CodeTimedOut, "The test of this server was stopped.").
			Remedy(environment.Remedy(environment.CodeTimedOut)).Because(context.Cause(ctx))
	}
	if err := prepare(d.dir); err != nil {
		return environment.HostFacts{}, err
	}
	return d.host(ctx)
}
