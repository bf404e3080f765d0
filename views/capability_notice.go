package views

import (
	"berth/environment"
	"berth/views/ui"
)

// CapabilityNoticeState is what an environment's driver can do here.
type CapabilityNoticeState string

// The states of a capability.
const (
	CapabilitySupported      CapabilityNoticeState = "supported"
	CapabilityUnavailable    CapabilityNoticeState = "unavailable"
	CapabilitySetupLimited   CapabilityNoticeState = "setup-limited"
	CapabilityCaptureLimited CapabilityNoticeState = "capture-limited"
)

// CapabilityNoticeProps says what a driver can do, as far as that is not
// everything.
type CapabilityNoticeProps struct {
	state CapabilityNoticeState
	key   environment.DriverKey
	caps  environment.Capabilities
}

// NewCapabilityNotice reads the capabilities of a driver; nil means that it is
// not installed.
func NewCapabilityNotice(key environment.DriverKey, caps *environment.Capabilities) CapabilityNoticeProps {
	p := CapabilityNoticeProps{key: key}
	if caps == nil {
		p.state = CapabilityUnavailable
		return p
	}
	p.caps = *caps
	switch {
	case caps.Unsupported != "":
		p.state = CapabilityUnavailable
	case !caps.InteractiveSetup:
		p.state = CapabilitySetupLimited
	case !caps.TemplateCapture:
		p.state = CapabilityCaptureLimited
	default:
		p.state = CapabilitySupported
	}
	return p
}

func (p CapabilityNoticeProps) name() string {
	if p.caps.DisplayName != "" {
		return p.caps.DisplayName
	}
	return kindName(p.key)
}

// can lists the abilities with whether they are there.
func (p CapabilityNoticeProps) can() []ability {
	all := []ability{{"Test", p.caps.Probe}, {"Run commands", p.caps.Exec}, {"Read files", p.caps.Files}}
	if p.key.Driver == environment.DriverSandbox {
		all = append(all, ability{"Reuse a stopped sandbox", p.caps.Resume}, ability{"Prove which image runs", p.caps.Identify},
			ability{"Find what was left behind", p.caps.List})
	}
	return append(all, ability{"Interactive setup", p.caps.InteractiveSetup}, ability{"Capture an image", p.caps.InteractiveSetup && p.caps.TemplateCapture})
}

type ability struct {
	name string
	has  bool
}

func (p CapabilityNoticeProps) tone() ui.Tone {
	if p.state == CapabilityUnavailable {
		return ui.Warn
	}
	return ui.Plain
}

func (p CapabilityNoticeProps) text() string {
	switch p.state {
	case CapabilityUnavailable:
		if p.caps.Unsupported != "" {
			return p.caps.Unsupported + " Nothing new is started with it; what was made with it can still be cleaned up."
		}
		return environment.NotInstalled(p.key).Message + " The environment can be read and edited, but not tested or used; work that names it is refused and never runs elsewhere."
	case CapabilitySetupLimited:
		return p.name() + " targets are used as they are: they cannot be prepared by hand in a terminal or captured as an image."
	case CapabilityCaptureLimited:
		return p.name() + " targets can be prepared by hand, but what was prepared cannot be captured as an image."
	}
	return p.name() + " targets can be tested, used, prepared by hand and captured as an image."
}

func (p CapabilityNoticeProps) word() string {
	switch p.state {
	case CapabilityUnavailable:
		if p.caps.Unsupported != "" {
			return "not available here"
		}
		return "not installed here"
	case CapabilitySetupLimited:
		if p.key.Driver == environment.DriverSandbox {
			return "test, run, read files, reuse"
		}
		return "test, run, read files"
	case CapabilityCaptureLimited:
		return "test, run, set up by hand"
	}
	return "everything"
}
