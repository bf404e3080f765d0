package catalogue

import (
	"slices"

	"berth/environment"
)

const maxListLimit = 1000

func filterProblem(f environment.ListFilter) error {
	wrong := func(field, message string) error {
		e := environment.NewError(environment.KindUnreadable, "invalid_filter", message)
		e.Fields = []environment.FieldError{{Field: field, Message: message}}
		return e
	}
	statuses := []environment.Status{"", environment.StatusActive, environment.StatusArchived, environment.StatusMaintenance}
	drivers := []string{"", environment.DriverLocal, environment.DriverSSH, environment.DriverSandbox, environment.DriverPlugin}
	sorts := []string{"", "updated", "name", "health", "driver", "tested"}
	switch {
	case !slices.Contains(statuses, f.Status):
		return wrong("status", "The status is active, archived or maintenance.")
	case !slices.Contains(drivers, f.Driver):
		return wrong("driver", "The driver is local, ssh, sandbox or plugin.")
	case f.Health != "" && !slices.Contains(environment.Healths(), f.Health):
		return wrong("health", "There is no such health word.")
	case !slices.Contains(sorts, f.Sort):
		return wrong("sort", "Sort by updated, name, health, driver or tested.")
	case f.Limit < 0 || f.Limit > maxListLimit:
		return wrong("limit", "The limit is between 1 and 1000.")
	}
	return nil
}
