package views

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"berth/environment"
	"berth/views/ui"

	"github.com/google/uuid"
)

// RunOutputState is how much of a run's output is there.
type RunOutputState string

// The states of the output. Shown is also set by the script when the first of it
// arrives.
const (
	OutputNone  RunOutputState = "none"
	OutputShown RunOutputState = "shown"
	OutputCut   RunOutputState = "cut"
)

// Piece is a part of the output as it is shown.
type Piece struct {
	Stderr bool
	Text   string
	Cut    int64 // bytes missing before it
}

// NewPiece is a piece of a stream whose text is known.
func NewPiece(stream environment.Stream, text string) Piece {
	return Piece{Stderr: stream == environment.Stderr, Text: visible(text)}
}

// OutputText turns chunks into text. A character that is split between chunks
// of a stream is kept until its rest arrives; what is no text becomes U+FFFD.
type OutputText struct{ held map[environment.Stream][]byte }

// NewOutputText returns one that has seen nothing.
func NewOutputText() *OutputText { return &OutputText{held: map[environment.Stream][]byte{}} }

// Piece returns the text of a chunk.
func (o *OutputText) Piece(c environment.LogChunk) Piece {
	data := append(o.held[c.Stream], c.Data...)
	whole := len(data)
	for back := 1; back < utf8.UTFMax && back <= len(data); back++ {
		if tail := data[len(data)-back:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				whole = len(data) - back
			}
			break
		}
	}
	o.held[c.Stream] = append([]byte(nil), data[whole:]...)
	return Piece{Stderr: c.Stream == environment.Stderr, Text: visible(string(data[:whole]))}
}

// visible makes every byte show: control characters have pictures, and a line
// break of any kind is one.
func visible(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == 0:
			return '\uFFFD'
		case r == '\r':
			return '\n'
		case r < ' ' && r != '\n' && r != '\t':
			return 0x2400 + r
		}
		return r
	}, s)
}

// RunOutputProps is a run's output so far.
type RunOutputProps struct {
	state   RunOutputState
	run     uuid.UUID
	pieces  []Piece
	size    int64
	began   bool
	partial bool  // what is shown begins later than the log
	unseen  int64 // bytes that are missing in the middle, which is not shown
}

// NewRunOutput makes it from the end of the log.
func NewRunOutput(r environment.Run, page environment.LogPage) RunOutputProps {
	p := RunOutputProps{state: OutputShown, run: r.ID, size: r.LogSize, began: r.StartedAt != nil}
	if page.Cut > 0 {
		p.state, p.unseen = OutputCut, page.Cut
	}
	text := NewOutputText()
	for i, c := range page.Chunks {
		if i == 0 {
			p.partial = c.Offset > 0
		}
		piece := text.Piece(c)
		if page.Cut > 0 && c.Offset == page.CutAt+page.Cut {
			piece.Cut, p.unseen = page.Cut, 0
		}
		p.pieces = append(p.pieces, piece)
	}
	if len(p.pieces) == 0 {
		p.state = OutputNone
	}
	return p
}

func (p RunOutputProps) rawPath() string { return "/api/runs/" + p.run.String() + "/log?raw=1" }

func (p RunOutputProps) note() string {
	s := ui.Bytes(p.size)
	if p.partial {
		s += ", the end is shown"
	}
	if p.unseen > 0 {
		s += "; " + strconv.FormatInt(p.unseen, 10) + " bytes of the middle are not kept"
	}
	return s
}

func cutText(n int64) string { return strconv.FormatInt(n, 10) + " bytes are not kept" }

func (p RunOutputProps) empty(live bool) string {
	switch {
	case live:
		return "No output yet."
	case !p.began:
		return "The command never began."
	}
	return "The command wrote nothing."
}
