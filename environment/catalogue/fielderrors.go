package catalogue

import (
	"errors"
	"slices"

	"berth/environment"
)

// atName puts the store's refusal of a name at the field name.
func atName(err error) error { return atField(err, "name", environment.CodeNameTaken) }

// atField puts an error with one of the codes at a field, so that a form shows
// it there.
func atField(err error, field string, codes ...string) error {
	e, ok := errors.AsType[*environment.Error](err)
	if !ok || len(e.Fields) > 0 || !slices.Contains(codes, e.Code) {
		return err
	}
	placed := *e
	placed.Fields = []environment.FieldError{{Field: field, Message: e.Message}}
	return &placed
}
