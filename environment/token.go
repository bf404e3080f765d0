package environment

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"
)

// TokenKind is what a bearer text is for; it is the text's first part.
type TokenKind string

// The kinds of tokens.
const (
	TokenPerson TokenKind = "pat"
	TokenAgent  TokenKind = "agent"
	TokenLink   TokenKind = "link"
)

// Token is a parsed bearer text: "berth_<kind>_<43 characters><6 of a checksum>".
// The checksum tells a text that was cut or mistyped without asking the store.
type Token struct {
	Kind TokenKind
	// Hash is the SHA-256 of the whole text: what the store keeps.
	Hash [sha256.Size]byte
	// Hint is its last four characters.
	Hint string
}

// NewToken makes a token from 32 bytes of random.
func NewToken(kind TokenKind, random io.Reader) (Secret, Token, error) {
	var raw [32]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return Secret{}, Token{}, err
	}
	text := "berth_" + string(kind) + "_" + base64.RawURLEncoding.EncodeToString(raw[:])
	text += checksum(text)
	return NewSecret(text), tokenOf(kind, text), nil
}

// ParseToken reads a bearer text; false for what cannot be a token of ours.
func ParseToken(text string) (Token, bool) {
	rest, ours := strings.CutPrefix(text, "berth_")
	kind, body, two := strings.Cut(rest, "_")
	switch TokenKind(kind) {
	case TokenPerson, TokenAgent, TokenLink:
	default:
		return Token{}, false
	}
	if !ours || !two || len(body) != 43+6 || checksum(text[:len(text)-6]) != text[len(text)-6:] {
		return Token{}, false
	}
	return tokenOf(TokenKind(kind), text), true
}

func tokenOf(kind TokenKind, text string) Token {
	return Token{Kind: kind, Hash: sha256.Sum256([]byte(text)), Hint: text[len(text)-4:]}
}

func checksum(text string) string {
	var sum [4]byte
	binary.BigEndian.PutUint32(sum[:], crc32.ChecksumIEEE([]byte(text)))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
