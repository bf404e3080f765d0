package supervisor

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"

	"berth/drivers/shell"
)

// Ahead is a session whose shell knows how to start work or to take it up before
// there is any. Nothing was done in it: it may be closed as it is. Exec goes on in
// it when an opener gives it.
type Ahead struct {
	shell.Session
	nonce string
}

// Prepare sends ahead to a fresh session what any work needs. It returns an error
// when the session is of no more use.
func Prepare(s shell.Session) (*Ahead, error) { return prepare(s, "/bin/sh") }

func prepare(s shell.Session, sh string) (*Ahead, error) {
	a := &Ahead{Session: s, nonce: newNonce()}
	var t text
	t.base(a.nonce, sh)
	t.WriteString("ahead\n")
	if _, err := io.WriteString(s, strconv.Itoa(t.Len())+"\n"+t.String()); err != nil {
		return nil, fmt.Errorf("send what work will need: %w", err)
	}
	return a, nil
}

func newNonce() string {
	var nonce [16]byte
	_, _ = rand.Read(nonce[:]) // never fails
	return hex.EncodeToString(nonce[:])
}
