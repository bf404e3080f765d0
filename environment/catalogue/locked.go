package catalogue

import (
	"maps"
	"slices"
	"strings"

	"berth/environment"
)

// lockRefusal keeps the managed sandbox what the instance's configuration says:
// nothing but its variables can be edited. Once no configuration provisions it any
// more it can be archived, restored and deleted too. A field that is touched names
// itself.
func lockRefusal(old environment.EnvironmentView, next environment.Environment) error {
	if !old.Managed {
		return nil
	}
	var fields []environment.FieldError
	for _, field := range slices.Sorted(maps.Keys(differences(old.Environment, next))) {
		if strings.HasPrefix(field, "envVars.") || field == "status" && !old.Provisioned {
			continue
		}
		fields = append(fields, environment.FieldError{Field: field, Message: "The managed sandbox's own configuration sets this."})
	}
	if len(fields) == 0 {
		return nil
	}
	e := managedRefusal(old)
	e.Fields = fields
	return e
}

// deleteRefusal keeps a managed sandbox that is provisioned.
func deleteRefusal(view environment.EnvironmentView) error {
	if !view.Managed || !view.Provisioned {
		return nil
	}
	return managedRefusal(view)
}

func managedRefusal(view environment.EnvironmentView) *environment.Error {
	e := environment.Conflict(environment.CodeEnvironmentManaged, "“"+view.Name+"” is the managed sandbox: only its variables can be changed here.")
	if view.Provisioned {
		return e.Remedy("Change the file that the server was started with, or create an environment of your own.")
	}
	return e.Remedy("No configuration provisions it any more: archive or delete it, or create an environment of your own.")
}
