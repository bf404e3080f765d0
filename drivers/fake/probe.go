package fake

import (
	"context"

	"berth/environment"
)

// Probe tests engine and image, and makes no sandbox.
func (d *Driver) Probe(ctx context.Context, spec environment.Spec, report func(environment.Stage)) environment.ProbeResult {
	result := environment.ProbeResult{}
	at := map[string]int{}
	spec.Report = func(s environment.Stage) {
		report(s)
		if i, ok := at[s.Name]; ok {
			result.Stages[i] = s
			return
		}
		at[s.Name] = len(result.Stages)
		result.Stages = append(result.Stages, s)
	}
	ref := environment.Ref{Config: spec.Config, Spec: spec}
	err := d.stage(spec, "engine", func() (string, error) {
		_, err := d.step(ctx, ref, "probe")
		return "The fake engine answers.", err
	})
	why := "A draft makes no sandbox."
	if err == nil {
		err = d.stage(spec, "image", func() (string, error) {
			image, err := d.choose(spec)
			result.Image = &image
			return "The image is " + image.Reference + ".", err
		})
	}
	result.OK, result.Summary = err == nil, "The fake engine and the image are there; nothing was made."
	if err != nil {
		e := environment.AsError(err)
		result.Code, result.Summary, why = e.Code, e.Message, "Skipped after a failure."
	}
	for _, name := range environment.DockerStages() {
		if _, done := at[name]; !done {
			d.tell(spec, environment.Stage{Name: name, Status: environment.StageSkipped, Message: why})
		}
	}
	return result
}
