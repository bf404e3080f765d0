package environment

import "encoding/json"

// What somebody sees who may not see where targets are: each Reduced leaves out
// config, variables, hosts, addresses and the providers' own ids. Services call
// it at the read, so that pages, the API and streams show the same.

// Reduced shows of an environment its name, kind and health. Config keeps the
// provider, if it names one.
func (v EnvironmentView) Reduced() EnvironmentView {
	v.Config, v.EnvVars, v.Metadata, v.Uses = providerOnly(v.Config), map[string]EnvVar{}, nil, Uses{}
	v.Last, v.Active = reducedProbe(v.Last), reducedProbe(v.Active)
	return v
}

func providerOnly(config json.RawMessage) json.RawMessage {
	var c struct {
		Provider *string `json:"provider,omitempty"`
	}
	if json.Unmarshal(config, &c) != nil || c.Provider == nil {
		return json.RawMessage("{}")
	}
	out, err := json.Marshal(c)
	if err != nil {
		return json.RawMessage("{}")
	}
	return out
}

func reducedProbe(p *Probe) *Probe {
	if p == nil {
		return nil
	}
	reduced := p.Reduced()
	return &reduced
}

// Reduced shows of a probe its verdict and how far each stage came. What it
// measured, whose keys it met and what image it ran are of the host.
func (p Probe) Reduced() Probe {
	p.Target, p.Host, p.Presented, p.Trusted, p.Image = p.Driver, nil, nil, nil, nil
	p.Qualification = p.Qualification.Reduced()
	if p.State.Ended() {
		p.Summary = Plainly(p.Code)
		if !p.OK && p.Code == "" {
			p.Summary = "The test was cancelled."
		}
	}
	stages := make([]Stage, len(p.Stages))
	for i, s := range p.Stages {
		stages[i] = s.Reduced()
	}
	p.Stages = stages
	return p
}

// Reduced shows whether something was recorded, in words that name no image; nil
// for nil.
func (q *QualificationResult) Reduced() *QualificationResult {
	if q == nil {
		return nil
	}
	reduced := QualificationResult{Recorded: q.Recorded, Code: q.Code, Message: "The image's platform was not recorded."}
	if q.Recorded {
		reduced.Message = "The image's platform was recorded."
	}
	return &reduced
}

// Reduced shows of a stage its outcome, in general words.
func (s Stage) Reduced() Stage {
	s.Measured, s.Limit, s.Message, s.Remediation = map[string]any{}, map[string]any{}, "", ""
	if s.Code != "" {
		s.Message, s.Remediation = Plainly(s.Code), Remedy(s.Code)
	}
	return s
}

// Reduced shows of a run all but where it ran. The command, its folder, its
// output and its workspace are the company's own.
func (r Run) Reduced() Run {
	r.Target, r.Host, r.Process, r.Failure = r.Driver, nil, nil, r.Failure.Reduced()
	return r
}

// Reduced is a failure in words that name no target; nil for nil.
func (f *Failure) Reduced() *Failure {
	if f == nil || ownWords[f.Code] {
		return f
	}
	return &Failure{Code: f.Code, Message: Plainly(f.Code), Remediation: Remedy(f.Code), Stage: f.Stage}
}

// Reduced shows of a lease whose it is and how it stands. Why it failed stays
// where it is a code.
func (l Lease) Reduced() Lease {
	l.ProviderID, l.Ref, l.Receipt, l.Metadata, l.ScopeKey, l.ObjectKey = nil, nil, nil, nil, nil, nil
	for _, text := range []**string{&l.FailureReason, &l.AcquisitionReason, &l.CleanupError} {
		if *text != nil && !isCode(**text) {
			*text = nil
		}
	}
	return l
}

func isCode(text string) bool {
	for _, r := range text {
		if r != '_' && (r < 'a' || r > 'z') {
			return false
		}
	}
	return text != ""
}

// Reduced is an event as a reduced read of its subject tells it. What cannot be
// read is left out: it may hold anything.
func (e Event) Reduced() Event {
	switch e.Kind {
	case EventStage:
		var stage Stage
		if json.Unmarshal(e.Payload, &stage) != nil {
			stage = Stage{}
		}
		e.Payload = encoded(stage.Reduced())
	case EventState, EventEnd:
		var payload map[string]json.RawMessage
		if json.Unmarshal(e.Payload, &payload) != nil {
			payload = map[string]json.RawMessage{}
		}
		if raw, has := payload["failure"]; has {
			var failure *Failure
			if json.Unmarshal(raw, &failure) != nil {
				failure = nil
			}
			payload["failure"] = encoded(failure.Reduced())
		}
		e.Payload = encoded(payload)
	}
	return e
}

// encoded is a value of ours as JSON.
func encoded(value any) json.RawMessage {
	raw, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage("null") // values that came out of JSON go back into it
	}
	return raw
}
