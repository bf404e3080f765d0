package views

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"berth/environment"
	"berth/views/ui"

	"github.com/google/uuid"
)

// SecretSource is where a field takes its secret from.
type SecretSource string

// The sources. The zero source is what a form without them sends: a value that
// is there is pasted, none keeps what is stored.
const (
	SourceKeep   SecretSource = "keep"
	SourcePaste  SecretSource = "paste"
	SourceChoose SecretSource = "choose" // a company's secret
	SourceCreate SecretSource = "create" // a new secret of a company
	SourceRemove SecretSource = "remove"
)

// SecretChoice is what was chosen for a field that takes a secret, as typed.
type SecretChoice struct {
	Source SecretSource
	// Value is what was pasted, or the value of the new secret. It is never
	// rendered; Sealed stands for it on the page, and only the server opens it.
	Value  environment.Secret
	Sealed string

	SecretID, Version string // choose; Version "" or "latest" follows the latest
	CompanyID, Title  string // create
}

// CompanySecrets are a company's secrets that a form may offer.
type CompanySecrets struct {
	Company environment.Company
	Secrets []environment.StoredSecret
}

// Shelf is what a form offers in the place of a pasted secret.
type Shelf struct {
	// Companies are those whose secrets may be chosen and added to; none: whoever
	// asks may keep no company's secrets.
	Companies []CompanySecrets
	// Working is the company that the browser works in; nil: none.
	Working *uuid.UUID
}

func (s Shelf) empty() bool {
	return !slices.ContainsFunc(s.Companies, func(c CompanySecrets) bool { return len(c.Secrets) > 0 })
}

// size is how many secrets are offered.
func (s Shelf) size() int {
	n := 0
	for _, c := range s.Companies {
		n += len(c.Secrets)
	}
	return n
}

// withoutSecrets offers new ones only.
func (s Shelf) withoutSecrets() Shelf {
	bare := Shelf{Working: s.Working}
	for _, c := range s.Companies {
		bare.Companies = append(bare.Companies, CompanySecrets{Company: c.Company})
	}
	return bare
}

// companies are the options of a new secret's company; Working stands first.
func (s Shelf) companies() []ui.Option {
	options := make([]ui.Option, 0, len(s.Companies))
	for _, c := range s.Companies {
		o := ui.Option{Value: c.Company.ID.String(), Label: c.Company.Name}
		if s.Working != nil && *s.Working == c.Company.ID {
			options = append([]ui.Option{o}, options...)
		} else {
			options = append(options, o)
		}
	}
	return options
}

// secretLabel is a secret in a list of choices.
func secretLabel(s environment.StoredSecret) string {
	label := s.Name + " · version " + strconv.Itoa(max(1, s.LatestVersion))
	if s.Disabled {
		label += " · disabled"
	}
	return label
}

// ref is the reference that a choice asks for, or what is wrong with it.
func (c SecretChoice) ref() (environment.SecretRef, string) {
	id, err := uuid.Parse(c.SecretID)
	if err != nil || id == uuid.Nil {
		return environment.SecretRef{}, "Choose a secret."
	}
	ref := environment.RefTo(id)
	version := strings.TrimSpace(c.Version)
	if version == "" || version == "latest" {
		return ref, ""
	}
	if n, err := strconv.Atoi(version); err != nil || n < 1 {
		return ref, "A version is a whole number from 1, or empty for the latest."
	}
	ref.Version = strings.TrimLeft(version, "0+")
	return ref, ""
}

// fresh is the company's secret that a choice asks for, or what is wrong with it.
func (c SecretChoice) fresh() (environment.NewCompanySecret, string) {
	n := environment.NewCompanySecret{Name: strings.TrimSpace(c.Title), Value: c.Value}
	var err error
	switch n.CompanyID, err = uuid.Parse(c.CompanyID); {
	case err != nil || n.CompanyID == uuid.Nil:
		return n, "Choose the company that the new secret is to belong to."
	case n.Name == "":
		return n, "Give the new secret a name."
	case c.Value.Empty():
		return n, "Enter the value of the new secret."
	}
	return n, ""
}

// secretPart is a part of a choice that can be refused.
type secretPart string

// The parts of a choice.
const (
	partSecret  secretPart = "secret"
	partVersion secretPart = "version"
	partCompany secretPart = "company"
	partTitle   secretPart = "title"
	partValue   secretPart = "value"
)

// refused is the part of a refused choice that is to be looked at again.
func (c SecretChoice) refused() secretPart {
	switch c.Source {
	case SourceChoose:
		if _, err := uuid.Parse(c.SecretID); err != nil || c.Version == "" || c.Version == "latest" {
			return partSecret
		}
		return partVersion
	case SourceCreate:
		if id, err := uuid.Parse(c.CompanyID); err != nil || id == uuid.Nil {
			return partCompany
		}
		kept := c.Value.Empty() && c.Sealed != ""
		if strings.TrimSpace(c.Title) != "" && !kept && environment.SecretProblem(c.Value) != "" {
			return partValue
		}
		return partTitle // it is missing or taken
	}
	return partValue
}

// problem says what is wrong with a choice as such; "" when nothing is.
func (c SecretChoice) problem() string {
	switch c.Source {
	case SourceChoose:
		_, problem := c.ref()
		return problem
	case SourceCreate:
		_, problem := c.fresh()
		return problem
	}
	return ""
}

// into puts a choice for a config's field into a draft.
func (c SecretChoice) into(d *environment.Draft, key string) {
	set := func(key string, value any) {
		raw, err := json.Marshal(value)
		if err != nil {
			panic(err) // text and references only
		}
		d.Config[key] = raw
	}
	switch c.Source {
	case SourceKeep:
	case SourceRemove:
		set(key, nil)
	case SourceChoose:
		if ref, problem := c.ref(); problem == "" {
			set(key+"SecretRef", ref)
		}
	case SourceCreate:
		if n, problem := c.fresh(); problem == "" {
			d.NewSecrets["config."+key] = n
		}
	default:
		if !c.Value.Empty() {
			set(key, c.Value.Reveal())
		}
	}
}
