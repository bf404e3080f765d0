package preview

import (
	"berth/environment"
	"berth/environment/example"
	"berth/views"

	"github.com/a-h/templ"
)

func panel(p environment.Probe) templ.Component {
	return views.ProbePanel(views.NewProbePanel(p, p.ConfigRevision, true, example.Now()))
}

// draft is a probe as it would be of values that are not saved.
func draft(p environment.Probe) environment.Probe {
	p.Draft = true
	return p
}

func probes() []Preview {
	outdated := views.ProbePanel(views.NewProbePanel(example.OKProbe(), 6, true, example.Now()))
	all := []Preview{
		{"probe-panel.pending", Probe, panel(example.QueuedProbe())},
		{"probe-panel.ready", Probe, panel(example.OKProbe())},
		{"probe-panel.ready.draft", Probe, panel(draft(example.OKProbe()))},
		{"probe-panel.ready.outdated", Probe, outdated},
		{"probe-panel.ready.local", Probe, panel(example.LocalProbe())},
		{"probe-panel.warning", Probe, panel(example.WarningProbe())},
		{"probe-panel.cancelled", Probe, panel(example.CancelledProbe())},
		{"probe-panel.interrupted", Probe, panel(example.InterruptedProbe())},
		{"probe-panel.host-key-unknown.draft", Probe, panel(draft(example.FailedProbe(environment.CodeHostKeyUnknown)))},
		{"probe-panel.host-key-changed.draft", Probe, panel(draft(example.FailedProbe(environment.CodeHostKeyChanged)))},
	}
	for i, stage := range environment.SSHStages() {
		all = append(all, Preview{"probe-panel.running." + stage, Probe, panel(example.RunningProbe(i))})
	}
	for _, code := range example.FailureCodes() {
		if code == environment.CodeInterrupted {
			continue // above, in its own state
		}
		all = append(all, Preview{"probe-panel." + failureState(code) + "." + code, Probe, panel(example.FailedProbe(code))})
	}
	return all
}

// failureState is the state in which a failed probe of a code is shown.
func failureState(code string) string {
	switch code {
	case environment.CodeHostKeyUnknown:
		return string(views.ProbeHostKeyUnknown)
	case environment.CodeHostKeyChanged:
		return string(views.ProbeHostKeyChanged)
	case environment.CodeHostKeyRevoked:
		return string(views.ProbeHostKeyRevoked)
	case environment.CodeCredentialMissing, environment.CodeSecretMissing, environment.CodeSecretDisabled:
		return string(views.ProbeCredentialMissing)
	case environment.CodeEngineDenied, environment.CodeImageDenied, environment.CodeLoginRefused, environment.CodeLoginNeedsInteraction, environment.CodeKeyNeedsPassphrase, environment.CodeKeyUnreadable:
		return string(views.ProbeAuthFailed)
	}
	return string(environment.HealthOfCode(code))
}
