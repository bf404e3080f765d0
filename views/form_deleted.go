package views

import (
	"slices"
	"time"

	"berth/environment"
	"berth/views/ui"
)

// Deletion is how the row of a form went.
type Deletion struct {
	Entry environment.Activity // of the log
	// Lost tells that secrets were stored with it that the form counted on.
	Lost bool
}

// deletedProps says who deleted what the form was to change.
type deletedProps struct {
	name, by, at string
	lost         bool
}

func newDeleted(f Form, now time.Time) deletedProps {
	d := deletedProps{name: f.Values.Name, by: f.Deleted.Entry.ActorName, at: ui.Ago(f.Deleted.Entry.CreatedAt, now), lost: f.Deleted.Lost}
	if name, ok := f.Deleted.Entry.Details["name"].(string); ok && name != "" {
		d.name = name
	}
	return d
}

// AsNew are the values of a form whose row is gone, to be saved as a new one. It
// reports whether they counted on secrets that were stored with the row.
func (v FormValues) AsNew() (FormValues, bool) {
	lost := false
	v.ID, v.Revision, v.OnlyVars, v.Config = nil, 0, false, slices.Clone(v.Config)
	for _, s := range v.secretFields() {
		switch s.choice.Source {
		case SourceKeep:
			lost = true
			*s.choice = SecretChoice{Source: SourcePaste}
		case SourceRemove:
			*s.choice = SecretChoice{Source: SourcePaste}
		}
	}
	rows := make([]VarValue, 0, len(v.Vars))
	for _, row := range v.Vars {
		if row.Stored != "" && row.Kind == VarSecret && row.Value.Empty() && !row.Remove {
			lost = true
			row.Hint = "Its stored value went with the environment: type it again."
		}
		row.Stored = ""
		rows = append(rows, row)
	}
	v.Vars = rows
	return v, lost
}
