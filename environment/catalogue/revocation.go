package catalogue

import (
	"berth/environment"
	"berth/environment/configschema"
)

// revokedFor is why an edit takes away what was qualified; "" for one that does
// not: of the name, of variables, of what only matters at run time. Only a new
// probe lifts it, not an edit back.
func (s *Service) revokedFor(old, next environment.Environment) string {
	if old.Key() != next.Key() {
		return environment.RevokedDriver
	}
	if old.Driver != environment.DriverSandbox {
		return ""
	}
	schema := s.schemaOrNil(next.Key())
	before, after, role := counted(old, schema), counted(next, schema), s.roles(next)
	reasons := map[string]bool{}
	for key := range keysOf(before, after) {
		if canonical(before[key]) == canonical(after[key]) {
			continue
		}
		if _, isRef := secretField(key); isRef {
			reasons[environment.RevokedAccount] = true
			continue
		}
		switch role(key) {
		case configschema.RoleRuntime:
		case configschema.RoleImage:
			reasons[environment.RevokedImage] = true
		case configschema.RoleAccount:
			reasons[environment.RevokedAccount] = true
		default:
			reasons[environment.RevokedTarget] = true
		}
	}
	for _, reason := range []string{environment.RevokedTarget, environment.RevokedAccount, environment.RevokedImage} {
		if reasons[reason] {
			return reason
		}
	}
	return ""
}
