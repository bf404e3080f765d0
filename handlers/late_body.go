package handlers

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/labstack/echo/v4"
)

// bodyWithin is how long a body may take to arrive.
const bodyWithin = 30 * time.Second

// bodiesInTime ends requests whose body does not arrive in time, be it read or
// not: net/http waits for the rest of one that was refused unread before it sends
// the answer. The server's own ReadTimeout would do, but it also ends every stream
// that is open for longer.
func (s *server) bodiesInTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			control := http.NewResponseController(w)
			_ = control.SetReadDeadline(time.Now().Add(s.bodyWithin)) // a writer without deadlines is a test's
			timed := *r
			timed.Body = &timedBody{r.Body, control}
			r = &timed
		}
		next.ServeHTTP(w, r)
	})
}

// timedBody is a body that must arrive in time. Its deadline goes with its end; of
// one that is late or too long it stays, for the rest that net/http waits for.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
}

// Read gives 408 for what does not arrive in time.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case err == io.EOF:
		_ = b.control.SetReadDeadline(time.Time{}) // as above
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = echo.NewHTTPError(http.StatusRequestTimeout).SetInternal(err)
	}
	return n, err
}
