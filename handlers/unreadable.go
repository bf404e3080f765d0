package handlers

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strconv"

	"berth/handlers/api"
)

// JSONRefusals makes the refusals that net/http writes by itself, of requests
// that it cannot read and so shows to no handler (a broken escape in the address,
// a header that is too long), the same as every other one of the API.
func JSONRefusals(l net.Listener) net.Listener { return refusingListener{l} }

type refusingListener struct{ net.Listener }

func (l refusingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return refusingConn{c}, nil
}

type refusingConn struct{ net.Conn }

// Write swaps a bare refusal, which net/http writes in one piece.
func (c refusingConn) Write(p []byte) (int, error) {
	status, is := bareRefusal(p)
	if !is {
		return c.Conn.Write(p)
	}
	body, err := marshal(api.Error{Error: unreadableMessage(status), Code: codeOfStatus(status)})
	if err != nil {
		return c.Conn.Write(p)
	}
	_, err = fmt.Fprintf(c.Conn, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\n"+
		"Content-Length: %d\r\nConnection: close\r\n\r\n%s", status, http.StatusText(status), len(body), body)
	return len(p), err
}

// CloseWrite lets net/http end an answer before it hangs up on what is still being
// sent: the caller then reads the answer.
func (c refusingConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// bareRefusal recognises a refusal of net/http's own: no answer of a handler
// comes without a date, with these two headers alone. Nothing may follow it: a
// write that begins in the middle of an answer begins with whatever a page shows.
func bareRefusal(p []byte) (status int, is bool) {
	answer, first := bytes.CutPrefix(p, []byte("HTTP/1.1 "))
	if !first {
		return 0, false
	}
	said, body, bare := bytes.Cut(answer, []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"))
	if !bare || !bytes.Equal(body, said) && string(body) != "Unsupported transfer encoding" {
		return 0, false
	}
	code, _, _ := bytes.Cut(said, []byte(" "))
	status, err := strconv.Atoi(string(code))
	return status, err == nil && status >= 400
}

func unreadableMessage(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "The request cannot be read: its address or a header is malformed."
	case http.StatusRequestHeaderFieldsTooLarge:
		return "The header of the request is too long."
	}
	return messageOfStatus(status)
}
