package views

import (
	"strings"

	"berth/environment"

	"github.com/google/uuid"
)

// RunTarget is what is known of a sandbox environment before something runs there.
type RunTarget struct {
	View      environment.EnvironmentView
	Usage     *environment.Usage     // nil: not known
	Admission *environment.Admission // of native work for the company; nil: not known
}

// runTarget is that in words.
type runTarget struct {
	id      string
	name    string
	what    string // provider and image
	account string // whose account, its limits, and what is used
	refused string // why one more lease would be refused; ""
	native  string // why native work would be refused; ""
	ok      bool   // native work may start
}

// WithTargets has the form say what is known of each sandbox environment.
func (p RunFormProps) WithTargets(targets []RunTarget) RunFormProps {
	for _, t := range targets {
		p.targets = append(p.targets, newRunTarget(t))
	}
	return p
}

func newRunTarget(t RunTarget) runTarget {
	v := t.View
	r := runTarget{id: v.ID.String(), name: v.Name, what: kindName(v.Key()), account: budgetLine(v.Budget)}
	if image := sandboxImage(v.Config); image != "" {
		r.what += " · " + shortImage(image)
	}
	if t.Usage != nil {
		leases, minutes := usageWords(v.Budget, *t.Usage)
		used := "leases in use: " + leases + " · lease-minutes today: " + minutes
		r.account = strings.TrimPrefix(r.account+" · "+used, " · ")
		r.refused = exhaustedWords(v.Budget, *t.Usage)
	}
	if t.Admission != nil {
		r.ok = t.Admission.Allowed
		if !r.ok {
			r.native = t.Admission.Message
		}
	}
	return r
}

// nativeWord says whether native work may start there; "" where nobody knows.
func (t runTarget) nativeWord() string {
	switch {
	case t.ok:
		return "Native work may start here."
	case t.native != "":
		return "Native work would be refused. " + t.native
	}
	return ""
}

// imagePath is where it is qualified.
func (t runTarget) imagePath() string {
	id, err := uuid.Parse(t.id)
	if err != nil {
		return Environments
	}
	return TabPath(id, TabImage)
}

func nativeState(t runTarget) string {
	if t.ok {
		return "allowed"
	}
	return "refused"
}
