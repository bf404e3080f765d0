package environment

// Limits on one read of a log, in bytes.
const (
	DefaultLogRead = 1 << 20
	MaxLogRead     = 4 << 20
)

// LogHead is how many of a log's first bytes are kept for ever; the rest of
// MaxRunLog is for the newest ones.
const LogHead = MaxRunLog / 2

// CutOf returns the offsets between which the bytes of a log of that size are
// not kept; from equals to when all are.
func CutOf(size int64) (from, to int64) {
	return LogHead, max(LogHead, size-(MaxRunLog-LogHead))
}

// End is the log offset after the chunk.
func (c LogChunk) End() int64 { return c.Offset + int64(len(c.Data)) }

// Beyond returns the part of the chunk that lies at or after a stream offset,
// with no data when nothing does.
func (c LogChunk) Beyond(streamOffset int64) LogChunk {
	return c.skip(min(max(streamOffset-c.StreamOffset, 0), int64(len(c.Data))))
}

// From returns the part of the chunk that lies at or after a log offset.
func (c LogChunk) From(offset int64) LogChunk {
	return c.skip(min(max(offset-c.Offset, 0), int64(len(c.Data))))
}

// Until returns the part of the chunk that lies before a log offset.
func (c LogChunk) Until(offset int64) LogChunk {
	c.Data = c.Data[:min(max(offset-c.Offset, 0), int64(len(c.Data)))]
	return c
}

func (c LogChunk) skip(n int64) LogChunk {
	c.Data, c.Offset, c.StreamOffset = c.Data[n:], c.Offset+n, c.StreamOffset+n
	return c
}

// PageOf makes the answer to a read of r's log at offset from the chunks that
// are stored there, in order: at most limit bytes of them. An offset within the
// cut reads on behind it, and no page spans the cut.
func PageOf(r Run, offset int64, limit int, stored []LogChunk) LogPage {
	page := LogPage{NextOffset: offset, Cut: r.LogCut, Chunks: []LogChunk{}}
	if from, to := CutOf(r.LogSize); r.LogCut > 0 {
		page.CutAt = from
		if offset >= from && offset < to {
			page.NextOffset = to
		}
	}
	left := int64(limit)
	for _, c := range stored {
		c = c.From(offset)
		c = c.Until(c.Offset + left)
		if len(c.Data) == 0 {
			continue
		}
		if len(page.Chunks) > 0 && c.Offset != page.NextOffset {
			break
		}
		page.Chunks, page.NextOffset = append(page.Chunks, c), c.End()
		if left -= int64(len(c.Data)); left == 0 {
			break
		}
	}
	page.Done = r.Status.Ended() && page.NextOffset >= r.LogSize
	return page
}

// LogReadLimit is limit within what one read may ask for.
func LogReadLimit(limit int) int {
	if limit <= 0 {
		return DefaultLogRead
	}
	return min(limit, MaxLogRead)
}
