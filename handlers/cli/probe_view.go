package cli

import (
	"io"
	"strings"

	"berth/environment"
	"berth/handlers/api"
)

// probeView shows a probe to a person: a line for each stage as it ends, and on
// a terminal the stage that runs.
type probeView struct {
	a       *app
	live    bool
	pending bool // a running stage's line is on the terminal
	shown   map[string]bool
}

func (v *probeView) begin(p api.ProbeResult) {
	v.shown = map[string]bool{}
	if v.live && p.Details.Target != "" {
		writef(v.a.env.Out, "Testing %s\n", printable(p.Details.Target))
	}
}

// stage shows one stage, as soon as it has ended.
func (v *probeView) stage(s api.Stage) {
	if !v.live || v.shown[s.Name] {
		return
	}
	switch environment.StageStatus(s.Status) {
	case environment.StageWaiting:
		return
	case environment.StageRunning:
		if v.a.colour(v.a.env.Out) {
			v.wipe()
			writef(v.a.env.Out, "  %s %s", v.a.paint("…"), environment.StageTitle(s.Name))
			v.pending = true
		}
		return
	}
	v.wipe()
	v.shown[s.Name] = true
	v.line(v.a.env.Out, s)
}

// wipe takes the running stage's line off the terminal.
func (v *probeView) wipe() {
	if v.pending {
		writef(v.a.env.Out, "\r\x1b[K")
		v.pending = false
	}
}

func (v *probeView) line(w io.Writer, s api.Stage) {
	mark := map[environment.StageStatus]string{
		environment.StageOK: "✓", environment.StageWarning: "!", environment.StageFailed: "✗", environment.StageSkipped: "-",
	}[environment.StageStatus(s.Status)]
	if mark == "" {
		mark = "?"
	}
	writef(w, "  %s %-16s %8s  %s\n", v.a.paint(mark), environment.StageTitle(s.Name), took(s), printable(s.Message))
	if s.Code != "" {
		writef(w, "      code: %s\n", s.Code)
	}
	if s.Remediation != "" {
		writef(w, "      %s\n", printable(s.Remediation))
	}
}

func took(s api.Stage) string {
	if environment.StageStatus(s.Status) == environment.StageSkipped {
		return ""
	}
	return millis(s.DurationMs)
}

// end shows what the stream left out, then the verdict.
func (v *probeView) end(w io.Writer, p api.ProbeResult) {
	v.wipe()
	for _, s := range p.Details.Stages {
		if !v.shown[s.Name] {
			v.line(w, s)
		}
	}
	word := p.Details.Health
	writef(w, "%s: %s\n", v.a.paint(word), printable(p.Summary))
	if h := p.Details.Host; h != nil {
		writef(w, "  ran on %s (%s %s)\n", printable(h.Name), proofOf(p.Driver), printable(h.BootID))
	}
	if f := p.Details.Platform; f != nil {
		writef(w, "  platform %s\n", strings.Join(strings.Fields(strings.Join([]string{f.OS, f.Arch, f.Libc, f.LibcVersion, printable(f.Distro)}, " ")), " "))
	}
	if i := p.Details.Image; i != nil {
		writef(w, "  image %s\n", printable(imageText(*i)))
	}
	if p.Recorded != nil && p.Diagnostic != nil {
		word := "not recorded"
		if *p.Recorded {
			word = "recorded"
		}
		writef(w, "  platform qualification: %s (%s): %s\n", word, p.Diagnostic.Code, printable(p.Diagnostic.Message))
	}
	if p.Details.Proves != "" {
		writef(w, "  %s\n", printable(p.Details.Proves))
	}
	for _, k := range p.Details.Presented {
		writef(w, "  presented %s %s\n", k.Type, k.Fingerprint)
	}
	for _, k := range p.Details.Trusted {
		writef(w, "  trusted   %s %s\n", k.Type, k.Fingerprint)
	}
	writef(w, "  took %s\n", millis(p.Details.DurationMs))
}

// imageText is an image as it was named, with what it was then.
func imageText(i environment.ImageIdentity) string {
	text := i.Reference
	for _, exact := range []string{i.Digest, i.SnapshotID, i.ImageID} {
		if exact != "" && !strings.Contains(text, exact) {
			text += " " + exact
			break
		}
	}
	return text
}
