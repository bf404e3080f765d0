// Package ui has the primitives that pages are made of: buttons, pills, fields,
// panels, steps. They know no domain: what they say is handed to them.
package ui

// Tone is how something is meant, shown as a colour beside words that say it.
type Tone string

// The tones.
const (
	Plain Tone = ""
	OK    Tone = "ok"
	Bad   Tone = "bad"
	Warn  Tone = "warn"
	Busy  Tone = "busy"
)
