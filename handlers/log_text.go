package handlers

import (
	"strings"
	"unicode/utf8"

	"berth/environment"
)

// logText turns the output of a run into text, chunk by chunk: a character that
// two chunks share belongs to the one that completes it.
type logText struct {
	pending map[environment.Stream][]byte
}

func newLogText() *logText { return &logText{pending: map[environment.Stream][]byte{}} }

// decode returns the text of a chunk, with U+FFFD for NUL and for bytes that are
// no UTF-8, and without a character that has only begun.
func (t *logText) decode(stream environment.Stream, data []byte) string {
	whole := append(t.pending[stream], data...)
	cut := len(whole) - begun(whole)
	t.pending[stream] = append([]byte(nil), whole[cut:]...)
	return cleanText(whole[:cut])
}

// rest returns what never got completed, and forgets it.
func (t *logText) rest() []streamText {
	var out []streamText
	for _, stream := range []environment.Stream{environment.Stdout, environment.Stderr} {
		if tail := t.pending[stream]; len(tail) > 0 {
			out = append(out, streamText{stream, cleanText(tail)})
		}
	}
	clear(t.pending)
	return out
}

type streamText struct {
	stream environment.Stream
	text   string
}

// begun counts the bytes at the end that begin a character and do not end it.
func begun(data []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		tail := data[len(data)-n:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// cleanText makes bytes text that any page and any JSON can hold.
func cleanText(data []byte) string {
	return strings.Map(func(r rune) rune {
		if r == 0 {
			return utf8.RuneError
		}
		return r
	}, string(data))
}
