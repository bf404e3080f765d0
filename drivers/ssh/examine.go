package ssh

import (
	"fmt"
	"strings"
	"time"

	"berth/environment"
)

// maxClockOff is how far a target's clock may be off.
const maxClockOff = 60 * time.Second

// platform puts system and machine into Berth's words; nil when it knows no
// such platform.
func (f *facts) platform() *environment.Platform {
	os := map[string]string{"Linux": "linux", "Darwin": "darwin"}[f.system]
	arch := map[string]string{"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}[f.machine]
	if os == "" || arch == "" {
		return nil
	}
	return &environment.Platform{OS: os, Arch: arch, Libc: f.libc, LibcVersion: f.libcVersion, Distro: f.distro}
}

func (e *examination) platform() *failure {
	measured := map[string]any{"system": e.facts.system, "machine": e.facts.machine, "hostName": e.facts.host, "bootId": e.facts.boot}
	platform := e.facts.platform()
	if platform == nil {
		f := fail("platform", environment.CodePlatformUnknown,
			fmt.Sprintf("%s runs %q on %q, which Berth does not know (uname over SSH).", e.ep.capital(), e.facts.system, e.facts.machine), nil)
		f.measured = measured
		return f.within("os", []string{"linux", "darwin"}).within("arch", []string{"x64", "arm64"})
	}
	measured["os"], measured["arch"], measured["distro"] = platform.OS, platform.Arch, platform.Distro
	if platform.Libc == "" {
		e.b.warned("platform", environment.CodePlatformUnknown,
			fmt.Sprintf("%s runs %s/%s, but no C library was found on it.", e.facts.host, platform.OS, platform.Arch),
			"Install a C library (glibc or musl) if what runs there needs one.", measured, map[string]any{})
		return nil
	}
	measured["libc"], measured["libcVersion"] = platform.Libc, platform.LibcVersion
	e.b.passed("platform", e.ep, fmt.Sprintf("%s runs %s.", e.facts.host, strings.Join(words(
		platform.OS+"/"+platform.Arch, strings.TrimSpace(platform.Libc+" "+platform.LibcVersion), platform.Distro), ", ")), measured)
	return nil
}

// words are those that are not empty.
func words(all ...string) []string {
	var kept []string
	for _, word := range all {
		if word != "" && word != "none" {
			kept = append(kept, word)
		}
	}
	return kept
}

func (e *examination) noWorkspace() *failure {
	path := e.p.config.RemoteWorkspacePath
	text := fmt.Sprintf("The workspace folder %s cannot be made or entered on %s", path, e.ep)
	if said := excerpt(*e.facts.dirError); said != "" {
		text += ": " + said
	}
	return fail("workspace", environment.CodeWorkspaceMissing, strings.TrimSuffix(text, ".")+".", nil).measure("path", path).measure("user", e.facts.user)
}

func (e *examination) workspace() *failure {
	dir := e.facts.dir
	if e.facts.writable != nil && !*e.facts.writable {
		return fail("workspace", environment.CodeWorkspaceNotWritable,
			fmt.Sprintf("The user %q cannot write in the workspace folder %s on %s.", e.p.config.Username, dir, e.ep), nil).
			measure("path", dir).measure("user", e.p.config.Username)
	}
	measured, limit := map[string]any{"path": dir}, map[string]any{"minFreeMB": e.p.config.MinFreeMB}
	if free := e.facts.freeKB; free != nil {
		freeMB := *free >> 10
		measured["freeMB"] = freeMB
		if freeMB < int64(e.p.config.MinFreeMB) {
			e.b.warned("workspace", environment.CodeDiskLow,
				fmt.Sprintf("Only %d MB are free in %s on %s; %d are asked for.", freeMB, dir, e.ep, e.p.config.MinFreeMB), "", measured, limit)
			return nil
		}
	}
	e.b.stage("workspace").Limit = limit
	e.b.passed("workspace", e.ep, fmt.Sprintf("%s can be written.", dir), measured)
	return nil
}

func (e *examination) requiredTools() *failure {
	missing, noexec := e.facts.missing, e.facts.noexec
	if len(missing)+len(noexec) > 0 {
		code, text := environment.CodeToolNotExecutable, []string{}
		if len(missing) > 0 {
			code, text = environment.CodeToolMissing, append(text, "not found: "+strings.Join(missing, ", "))
		}
		if len(noexec) > 0 {
			text = append(text, "not executable: "+strings.Join(noexec, ", "))
		}
		return fail("tools", code, fmt.Sprintf("Required tools on %s: %s.", e.ep, strings.Join(text, "; ")), nil).
			measure("missing", append([]string{}, missing...)).measure("notExecutable", append([]string{}, noexec...)).
			within("required", e.p.config.RequiredTools)
	}
	text := "No tool is required."
	if n := len(e.p.config.RequiredTools); n > 0 {
		text = "Found: " + strings.Join(e.p.config.RequiredTools, ", ") + "."
	}
	e.b.stage("tools").Limit = map[string]any{"required": e.p.config.RequiredTools}
	e.b.passed("tools", e.ep, text, map[string]any{"found": len(e.p.config.RequiredTools)})
	return nil
}

// clock compares the clocks. The target read its own at some moment between the
// question and the answer, in whole seconds, so that much of a difference
// proves nothing.
func (e *examination) clock() {
	if e.facts.clock == nil {
		e.b.warned("clock", environment.CodeClockOff, fmt.Sprintf("%s does not tell its time.", e.ep.capital()), "", map[string]any{}, map[string]any{})
		return
	}
	off := clockOff(*e.facts.clock, e.asked, e.facts.clockAt)
	measured := map[string]any{"offSeconds": int64(off / time.Second), "targetTime": time.Unix(*e.facts.clock, 0).UTC().Format(time.RFC3339)}
	limit := map[string]any{"offSeconds": int64(maxClockOff / time.Second)}
	if off.Abs() > maxClockOff {
		direction := "ahead of"
		if off < 0 {
			direction = "behind"
		}
		e.b.warned("clock", environment.CodeClockOff,
			fmt.Sprintf("The clock of %s is %s %s this server's.", e.ep, off.Abs().Round(time.Second), direction), "", measured, limit)
		return
	}
	e.b.stage("clock").Limit = limit
	e.b.passed("clock", e.ep, "The clocks agree.", measured)
}

// clockOff is how far a reading in whole seconds is outside of the time in which
// it was taken; 0 when it is within.
func clockOff(seconds int64, from, until time.Time) time.Duration {
	earliest := time.Unix(seconds, 0)
	latest := earliest.Add(time.Second)
	switch {
	case latest.Before(from):
		return latest.Sub(from)
	case earliest.After(until):
		return earliest.Sub(until)
	}
	return 0
}
