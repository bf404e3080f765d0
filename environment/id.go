package environment

import (
	"fmt"

	"github.com/google/uuid"
)

// NewID returns a fresh UUIDv7. Ids sort by the time at which they were made.
func NewID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// ParseID reads an id that came from outside. Any UUID in its canonical
// 36-character form is accepted; anything else is KindInvalid.
func ParseID(what, text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return uuid.Nil, Invalid("invalid_id", fmt.Sprintf("The %s id is not a UUID.", what))
	}
	return id, nil
}

// IDText is an id as text; "" for none.
func IDText(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return id.String()
}
