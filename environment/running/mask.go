package running

import (
	"bytes"
	"maps"
	"slices"
	"strings"
)

// minMasked is the length from which a secret is masked: shorter ones would
// riddle any output.
const minMasked = 4

// minMaskedLine is the same for a line of a secret, which more often is a common
// word or a bracket.
const minMaskedLine = 8

// masker replaces each byte of a known secret by '*'. It holds back the end of
// what it saw for as long as that may be the beginning of a secret.
type masker struct {
	secrets [][]byte
	raw     []byte // held back, as it came
	shown   []byte // the same, with what is known to be masked masked
}

// push puts bytes in and returns those that are decided.
func (m *masker) push(data []byte) []byte {
	if len(m.secrets) == 0 {
		return bytes.Clone(data)
	}
	raw := append(m.raw, data...)
	shown := append(m.shown, data...)
	keep := 0
	for _, secret := range m.secrets {
		hide(shown, raw, secret)
		keep = max(keep, beginning(raw, secret))
	}
	cut := len(raw) - keep
	m.raw, m.shown = bytes.Clone(raw[cut:]), bytes.Clone(shown[cut:])
	return shown[:cut:cut]
}

// held is the number of bytes held back.
func (m *masker) held() int { return len(m.raw) }

// flush returns what is held back: nothing follows that could complete it.
func (m *masker) flush() []byte {
	shown := m.shown
	m.raw, m.shown = nil, nil
	return shown
}

// hide masks every occurrence of secret in raw, overlapping ones too, in shown.
func hide(shown, raw, secret []byte) {
	done := 0
	for from := 0; ; {
		i := bytes.Index(raw[from:], secret)
		if i < 0 {
			return
		}
		start, end := from+i, from+i+len(secret)
		for j := max(start, done); j < end; j++ {
			shown[j] = '*'
		}
		done, from = end, start+1
	}
}

// beginning is the length of the longest end of raw with which secret begins,
// without being all of it.
func beginning(raw, secret []byte) int {
	tail := raw[max(0, len(raw)-len(secret)+1):]
	for len(tail) > 0 {
		i := bytes.IndexByte(tail, secret[0])
		if i < 0 {
			return 0
		}
		tail = tail[i:]
		if bytes.HasPrefix(secret, tail) {
			return len(tail)
		}
		tail = tail[1:]
	}
	return 0
}

// maskOf lists every known secret of a run: of its lease and of its variables, as
// they were when it began. They are kept with the run while it runs: a secret may
// get a new value meanwhile, and the old one is still in the output.
func maskOf(g goods) []string {
	values := slices.Clone(g.cargo.Mask)
	for _, v := range g.vars {
		if v.Masked {
			values = append(values, v.Value.Reveal())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.spec.Secrets)) {
		values = append(values, g.spec.Secrets[name].Reveal())
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// masked are the known secrets of a run in the forms in which output shows them.
func masked(g goods) [][]byte {
	var forms []string
	for _, value := range maskOf(g) {
		// A file with a secret rarely ends as the stored value does.
		if value = strings.TrimRight(value, "\r\n"); len(value) >= minMasked {
			forms = append(forms, value)
			forms = append(forms, linesOf(value)...)
		}
	}
	slices.Sort(forms)
	var secrets [][]byte
	for _, form := range slices.Compact(forms) {
		secrets = append(secrets, []byte(form))
	}
	return secrets
}

// linesOf are the lines of a secret, without the blanks around them: a terminal
// ends lines in another way, a program indents or cuts them, a shell joins them.
func linesOf(value string) []string {
	var lines []string
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); len(line) >= minMaskedLine {
			lines = append(lines, line)
		}
	}
	return lines
}
