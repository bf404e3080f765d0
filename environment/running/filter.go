package running

import "unicode/utf8"

// piece is bytes of one stream from an offset on.
type piece struct {
	offset int64
	data   []byte
}

// filter is what a stream goes through: secrets are masked, and a character of
// several bytes stays in one piece. Both hold a little back, and neither
// changes the number of bytes.
type filter struct {
	next int64 // offset of the next byte that comes out
	mask masker
	tail []byte // the beginning of a character
}

// take puts in bytes from an offset and returns what comes out. Bytes that were
// there already are dropped; after a hole, which a driver that keeps its word
// does not leave, the stream goes on at the new offset. The result shares no
// memory with data.
func (f *filter) take(offset int64, data []byte) []piece {
	expected := f.next + int64(len(f.tail)+f.mask.held())
	if offset > expected {
		before := f.flush()
		f.next = offset
		return []piece{before, f.whole(f.mask.push(data))}
	}
	data = data[min(int64(len(data)), expected-offset):]
	return []piece{f.whole(f.mask.push(data))}
}

// whole returns all but an unfinished character at the end.
func (f *filter) whole(data []byte) piece {
	data = append(f.tail, data...)
	cut := len(data) - unfinished(data)
	out := piece{offset: f.next, data: data[:cut:cut]}
	f.tail = append([]byte(nil), data[cut:]...)
	f.next += int64(cut)
	return out
}

// flush returns what is held back.
func (f *filter) flush() piece {
	out := f.whole(f.mask.flush())
	out.data = append(out.data, f.tail...)
	f.next += int64(len(f.tail))
	f.tail = nil
	return out
}

// unfinished is the length of the beginning of a character at the end of data.
func unfinished(data []byte) int {
	for n := 1; n <= min(utf8.UTFMax-1, len(data)); n++ {
		last := data[len(data)-n:]
		if utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// cutRunes cuts data after at most limit bytes, not within a character.
func cutRunes(data []byte, limit int) (head, rest []byte) {
	if len(data) <= limit {
		return data, nil
	}
	cut := limit - unfinished(data[:limit])
	return data[:cut:cut], data[cut:]
}
