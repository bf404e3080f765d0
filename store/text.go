package store

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// clean makes text storable: what came from a target may hold NUL bytes or
// broken UTF-8, both of which PostgreSQL refuses. Each becomes U+FFFD.
func clean(s string) string {
	if strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) {
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}

func cleanPtr(s *string) *string {
	if s == nil {
		return nil
	}
	c := clean(*s)
	return &c
}

// document is a value on its way into a jsonb column. It is cleaned there, in
// the one place through which every document passes. A nil or null value is
// stored as NULL.
type document struct{ value any }

// Value implements driver.Valuer.
func (d document) Value() (driver.Value, error) {
	var text []byte
	switch v := d.value.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		text = bytes.TrimSpace(v)
	default:
		var err error
		if text, err = json.Marshal(v); err != nil {
			return nil, fmt.Errorf("encode a document: %w", err)
		}
	}
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	return cleanJSON(text)
}

// cleanJSON returns the document without NUL characters and lone surrogates,
// which JSON may spell and jsonb refuses.
func cleanJSON(text []byte) (string, error) {
	lower := bytes.ToLower(text)
	suspect := bytes.Contains(lower, []byte(`\u0000`)) || bytes.Contains(lower, []byte(`\ud`))
	if !suspect && utf8.Valid(text) && bytes.IndexByte(text, 0) < 0 {
		return string(text), nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return "", fmt.Errorf("read a document: %w", err)
	}
	out, err := json.Marshal(cleanValue(v))
	if err != nil {
		return "", fmt.Errorf("encode a document: %w", err)
	}
	return string(out), nil
}

func cleanValue(v any) any {
	switch v := v.(type) {
	case string:
		return clean(v)
	case []any:
		for i := range v {
			v[i] = cleanValue(v[i])
		}
	case map[string]any:
		cleaned := make(map[string]any, len(v))
		for key, item := range v {
			cleaned[clean(key)] = cleanValue(item)
		}
		return cleaned
	}
	return v
}

// stored is a jsonb column as it is read; nil for NULL.
type stored []byte

// Scan implements sql.Scanner.
func (s *stored) Scan(from any) error {
	switch v := from.(type) {
	case nil:
		*s = nil
	case []byte:
		*s = bytes.Clone(v)
	case string:
		*s = stored(v)
	default:
		return fmt.Errorf("a document cannot be read from %T", from)
	}
	return nil
}

// into decodes the document; NULL leaves dest alone.
func (s stored) into(dest any) error {
	if len(s) == 0 {
		return nil
	}
	if err := json.Unmarshal(s, dest); err != nil {
		return fmt.Errorf("read a stored document: %w", err)
	}
	return nil
}

// raw returns the document as it is; "null" for NULL.
func (s stored) raw() json.RawMessage {
	if len(s) == 0 {
		return json.RawMessage("null")
	}
	return json.RawMessage(s)
}
