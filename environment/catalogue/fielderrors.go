package catalogue

import "berth/environment"

// atName puts the store's refusal of a name at the field name.
func atName(err error) error { return environment.AtField(err, "name", environment.CodeNameTaken) }
