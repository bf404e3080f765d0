package views

import (
	"strconv"
	"time"

	"berth/environment"
	"berth/views/ui"

	"github.com/google/uuid"
)

// SecretsPageState is how a company's secrets stand.
type SecretsPageState string

// The states of a company's secrets.
const (
	SecretsShown   SecretsPageState = "shown"
	SecretsNone    SecretsPageState = "none"
	SecretsInvalid SecretsPageState = "invalid"
)

// SecretValues is what was typed of a secret. Sealed stands for its value.
type SecretValues struct{ Name, Description, Sealed string }

// SecretsPageProps are a company's secrets and the form of a new one.
type SecretsPageProps struct {
	state   SecretsPageState
	company environment.Company
	secrets []environment.StoredSecret
	values  SecretValues
	errors  map[string]string
	failure string
	now     time.Time
}

// NewSecretsPage makes the page. failed is why the last one was refused; nil for
// none.
func NewSecretsPage(company environment.Company, all []environment.StoredSecret, v SecretValues, failed *environment.Error, now time.Time) SecretsPageProps {
	p := SecretsPageProps{state: SecretsShown, company: company, secrets: all, values: v, errors: fieldErrors(failed), now: now}
	if len(all) == 0 {
		p.state = SecretsNone
	}
	if failed != nil {
		p.state = SecretsInvalid
		if len(p.errors) == 0 {
			p.failure = failed.Message
		}
	}
	return p
}

// SecretPath is the page of a secret.
func SecretPath(company, id uuid.UUID) string { return SecretsPath(company) + "/" + id.String() }

func rotatePath(s environment.StoredSecret) string { return secretPath(s) + "/rotate" }

func secretDeletePath(s environment.StoredSecret) string { return secretPath(s) + "/delete" }

func secretPath(s environment.StoredSecret) string { return SecretPath(*s.CompanyID, s.ID) }

func versionText(n int) string { return "version " + strconv.Itoa(n) }

// secretPill says whether a secret opens.
func secretPill(s environment.StoredSecret) pill {
	if s.Disabled {
		return pill{ui.Warn, "Disabled"}
	}
	return pill{ui.OK, "Active"}
}

// valueField is the field of a secret's value; it is never given one.
type valueField struct {
	label, sealed, problem string
	focus                  bool
}

func (v valueField) placeholder() string {
	if v.sealed != "" {
		return "typed before; empty keeps that"
	}
	return ""
}

func (p SecretsPageProps) value() valueField {
	return valueField{label: "Value", sealed: p.values.Sealed, problem: p.errors["value"], focus: p.errors["value"] != "" && p.errors["name"] == ""}
}
