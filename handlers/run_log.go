package handlers

import (
	"net/http"
	"strconv"

	"berth/environment"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// How many bytes of a log one read gives.
const (
	minLogRead     = 16 // more than one character
	defaultLogRead = 256 << 10
	maxLogRead     = 1 << 20
)

// runLog answers GET /api/runs/:id/log?offset=&limit=&stream=. With ?raw=1 the
// bytes come untouched, with the next offset in a header; with ?data=1 they are
// in each chunk beside its text.
func (s *server) runLog(c echo.Context) error {
	id, err := pathID(c, "id", "run")
	if err != nil {
		return err
	}
	offset, err := number(c, "offset", 0, 0, 1<<62)
	if err != nil {
		return err
	}
	limit, err := number(c, "limit", defaultLogRead, minLogRead, maxLogRead)
	if err != nil {
		return err
	}
	raw, err := flag(c, "raw", false)
	if err != nil {
		return err
	}
	withBytes, err := flag(c, "data", false)
	if err != nil {
		return err
	}
	stream, err := choice(c, "stream", environment.Stdout, environment.Stderr)
	if err != nil {
		return err
	}
	page, err := s.Running.Log(c.Request().Context(), s.actor(c), id, offset, int(limit))
	if err != nil {
		return err
	}
	if raw {
		return writeRawLog(c, page, stream)
	}
	return writeJSON(c, http.StatusOK, logShape(page, stream, withBytes))
}

func writeRawLog(c echo.Context, page environment.LogPage, stream environment.Stream) error {
	var body []byte
	for _, chunk := range page.Chunks {
		if stream == "" || chunk.Stream == stream {
			body = append(body, chunk.Data...)
		}
	}
	h := c.Response().Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Berth-Next-Offset", strconv.FormatInt(page.NextOffset, 10))
	h.Set("X-Berth-Done", strconv.FormatBool(page.Done))
	h.Set("X-Berth-Truncated", strconv.FormatBool(page.Cut > 0))
	return c.Blob(http.StatusOK, "application/octet-stream", body)
}

// logShape is a page of a log as text. A character that has only begun at the
// end of the page is left to the next one, unless the caller wants its bytes.
func logShape(page environment.LogPage, stream environment.Stream, withBytes bool) api.Log {
	answer := api.Log{NextOffset: page.NextOffset, Done: page.Done, Truncated: page.Cut > 0, Chunks: []api.LogChunk{}}
	text := newLogText()
	for i, chunk := range page.Chunks {
		if last := i == len(page.Chunks)-1; last && !page.Done && !withBytes {
			keep := len(chunk.Data) - begun(chunk.Data)
			answer.NextOffset -= int64(len(chunk.Data) - keep)
			chunk.Data = chunk.Data[:keep]
		}
		if len(chunk.Data) > 0 && (stream == "" || chunk.Stream == stream) {
			answer.Chunks = append(answer.Chunks, outputShape(chunk, text.decode(chunk.Stream, chunk.Data), withBytes))
		}
	}
	if withBytes {
		return answer
	}
	for _, rest := range text.rest() {
		answer.Chunks = append(answer.Chunks, api.LogChunk{Stream: string(rest.stream), Offset: page.NextOffset, Text: rest.text})
	}
	return answer
}

// outputShape is a piece of output as the API shows it.
func outputShape(chunk environment.LogChunk, text string, withBytes bool) api.LogChunk {
	shape := api.LogChunk{Stream: string(chunk.Stream), Offset: chunk.Offset, Text: text}
	if withBytes {
		shape.Data = chunk.Data
	}
	return shape
}
