package views

import (
	"cmp"
	"encoding/json"
	"strings"

	"berth/environment"
	"berth/views/ui"
)

// healthWord is a health as its pill says it. An untrusted host is named by
// what its key is.
func healthWord(h environment.Health, code string) string {
	switch {
	case code == environment.CodeHostKeyUnknown:
		return "Host key unknown"
	case code == environment.CodeHostKeyChanged:
		return "Host key changed"
	case code == environment.CodeHostKeyRevoked:
		return "Host key revoked"
	}
	return strings.ToUpper(string(h)[:1]) + string(h)[1:]
}

func healthTone(h environment.Health) ui.Tone {
	switch h {
	case environment.HealthReady:
		return ui.OK
	case environment.HealthTesting:
		return ui.Busy
	case environment.HealthWarning, environment.HealthInterrupted, environment.HealthChanged:
		return ui.Warn
	case environment.HealthUnfit, environment.HealthUnreachable, environment.HealthUntrusted:
		return ui.Bad
	}
	return ui.Plain
}

// pill is a pill's tone and text.
type pill struct {
	tone ui.Tone
	text string
}

// healthPill is what an environment's pill says: its status first, where it is
// not simply active, then its health.
func healthPill(v environment.EnvironmentView) pill {
	switch v.Status {
	case environment.StatusArchived:
		return pill{ui.Plain, "Archived"}
	case environment.StatusMaintenance:
		return pill{ui.Warn, "Maintenance"}
	}
	h := v.Health()
	if v.Driver == environment.DriverLocal && h == environment.HealthUntested {
		return pill{ui.Plain, "Local"}
	}
	code := ""
	if h == environment.HealthUntrusted {
		code = v.Last.Code
	}
	return pill{healthTone(h), healthWord(h, code)}
}

// driverName is a driver as people call it.
func driverName(driver string) string {
	switch driver {
	case environment.DriverSSH:
		return "SSH"
	case environment.DriverLocal:
		return "Local"
	case environment.DriverSandbox:
		return "Sandbox"
	case environment.DriverPlugin:
		return "Plugin"
	}
	return driver
}

// providerName is a sandbox provider as people call it.
func providerName(provider string) string {
	if provider == "" {
		return ""
	}
	return strings.ToUpper(provider[:1]) + provider[1:]
}

// kindName is a driver, or of a sandbox its provider.
func kindName(key environment.DriverKey) string {
	if key.Provider != "" {
		return providerName(key.Provider)
	}
	return driverName(key.Driver)
}

// sandboxImage is the image of a sandbox's config; "" when it names none.
func sandboxImage(config json.RawMessage) string {
	var c struct{ Image, Template string }
	if json.Unmarshal(config, &c) != nil {
		return ""
	}
	return cmp.Or(c.Image, c.Template)
}

// sshConfig reads a stored config; the zero config when it is none.
func sshConfig(e environment.Environment) environment.SSHConfig {
	var c environment.SSHConfig
	if e.Driver != environment.DriverSSH || json.Unmarshal(e.Config, &c) != nil {
		return environment.SSHConfig{}
	}
	return c
}

// address is where an environment points, in one line; "" when it does not say.
func address(e environment.Environment) string {
	switch e.Driver {
	case environment.DriverSSH:
		if c := sshConfig(e); c.Host != "" {
			return c.Target() + " · " + c.RemoteWorkspacePath
		}
	case environment.DriverLocal:
		return "this server"
	case environment.DriverSandbox:
		return sandboxImage(e.Config)
	}
	return ""
}

// platformText is a platform in one line; "" for none.
func platformText(p *environment.Platform) string {
	if p == nil {
		return ""
	}
	parts := []string{p.OS, p.Arch}
	if p.Libc != "" && p.Libc != "none" {
		parts = append(parts, strings.TrimSpace(p.Libc+" "+p.LibcVersion))
	}
	return strings.Join(parts, " · ")
}

// usesText says what an environment is used for, "" for nothing at all.
func usesText(u environment.Uses) string {
	var parts []string
	if u.ActiveRuns > 0 {
		parts = append(parts, ui.Count(u.ActiveRuns, "run under way", "runs under way"))
	} else if u.Runs > 0 {
		parts = append(parts, ui.Count(u.Runs, "run", "runs"))
	}
	if u.ActiveLeases > 0 {
		parts = append(parts, ui.Count(u.ActiveLeases, "lease", "leases"))
	}
	if u.AgentDefaults > 0 {
		parts = append(parts, ui.Count(u.AgentDefaults, "agent by default", "agents by default"))
	}
	if u.PendingCleanup > 0 {
		parts = append(parts, ui.Count(u.PendingCleanup, "clean-up pending", "clean-ups pending"))
	}
	return strings.Join(parts, " · ")
}

// sparkline draws the last probes.
func sparkline(marks []environment.ProbeMark) ui.SparkProps {
	p := ui.SparkProps{Marks: make([]ui.Mark, 0, len(marks))}
	failed := 0
	for _, m := range marks {
		p.Marks = append(p.Marks, ui.Mark{Value: m.DurationMs, Bad: !m.OK})
		if !m.OK {
			failed++
		}
	}
	p.Label = "Last " + ui.Count(len(marks), "test", "tests") + ": " + ui.Count(failed, "failed", "failed")
	if n := len(marks); n > 0 {
		p.Label += ", newest " + ui.Millis(marks[n-1].DurationMs)
	}
	return p
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
