package store

import (
	"encoding/base64"
	"encoding/json"

	"berth/environment"

	"github.com/google/uuid"
)

// Sizes of a page.
const (
	defaultLimit = 500
	maxLimit     = 1000
)

func pageSize(limit int) int {
	if limit <= 0 {
		return defaultLimit
	}
	return min(limit, maxLimit)
}

// cursor says after which row the next page begins: the row's sort keys, as
// PostgreSQL spells them, and its id. Order names the order that it is of.
type cursor struct {
	Order string    `json:"o"`
	Keys  []string  `json:"k"`
	ID    uuid.UUID `json:"i"`
}

func (c cursor) String() string {
	b, err := json.Marshal(c)
	if err != nil {
		return "" // strings and an id always encode
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// readCursor reads what String wrote for the same order with n keys; nil for "".
func readCursor(text, order string, n int) (*cursor, error) {
	if text == "" {
		return nil, nil
	}
	var c cursor
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || c.Order != order || len(c.Keys) != n {
		return nil, badCursor()
	}
	return &c, nil
}

func badCursor() *environment.Error {
	return environment.NewError(environment.KindUnreadable, "invalid_cursor", "The cursor is not one of this list.")
}
