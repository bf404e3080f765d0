package views

import (
	"strings"
	"time"

	"berth/environment"
	"berth/views/ui"
)

// SecretPageState is how a secret stands on its page.
type SecretPageState string

// The states of a secret's page.
const (
	SecretActive   SecretPageState = "active"
	SecretDisabled SecretPageState = "disabled"
	SecretInvalid  SecretPageState = "invalid" // the last change was refused
)

// SecretDetail is what a secret's page is made from.
type SecretDetail struct {
	Company  environment.Company
	Secret   environment.StoredSecret
	Versions []environment.SecretVersion
	Bindings []environment.SecretBinding
	Accesses []environment.SecretAccess
	Values   *SecretValues      // what was typed; nil: what is stored
	Failed   *environment.Error // why the last change was refused; nil: none
	// Next leads to older accesses, "" when there are none.
	Next string
}

// SecretPageProps is the page of a secret.
type SecretPageProps struct {
	SecretDetail
	state   SecretPageState
	values  SecretValues
	errors  map[string]string
	failure string
	now     time.Time
}

// NewSecretPage makes the page.
func NewSecretPage(d SecretDetail, now time.Time) SecretPageProps {
	p := SecretPageProps{SecretDetail: d, state: SecretActive, errors: fieldErrors(d.Failed), now: now,
		values: SecretValues{Name: d.Secret.Name, Description: text(d.Secret.Description)}}
	if d.Values != nil {
		p.values = *d.Values
	}
	switch {
	case d.Failed != nil:
		p.state = SecretInvalid
		if len(p.errors) == 0 {
			p.failure = strings.TrimSpace(d.Failed.Message + " " + d.Failed.Remediation)
		}
	case d.Secret.Disabled:
		p.state = SecretDisabled
	}
	return p
}

func (p SecretPageProps) value() valueField {
	return valueField{label: "New value", sealed: p.values.Sealed, problem: p.errors["value"], focus: p.errors["value"] != ""}
}

// pathText is a place in an environment in words.
func pathText(path string) string {
	if name, isVar := strings.CutPrefix(path, "envVars."); isVar {
		return "variable " + name
	}
	switch path {
	case "config.privateKey":
		return "private key"
	case "config.passphrase":
		return "passphrase"
	case "config.password":
		return "password"
	}
	return strings.TrimPrefix(path, "config.")
}

func bindingVersion(b environment.SecretBinding) string {
	if b.Version == "latest" {
		return "the latest version"
	}
	return "version " + b.Version + " only"
}

// accessPill is the outcome of an opening.
func accessPill(a environment.SecretAccess) pill {
	if a.Outcome == "opened" {
		return pill{ui.OK, "Opened"}
	}
	return pill{ui.Bad, strings.ReplaceAll(a.Outcome, "_", " ")}
}

// accessText is what an opening was for.
func accessText(a environment.SecretAccess) string {
	t := string(a.Purpose)
	if a.ConfigPath != "" {
		t += ", as " + pathText(a.ConfigPath)
	}
	if a.Version > 0 {
		t += ", " + versionText(a.Version)
	}
	return t
}

// SecretDeleteState is whether a secret can be deleted.
type SecretDeleteState string

// The states of the question.
const (
	SecretDeleteReady SecretDeleteState = "ready"
	SecretDeleteInUse SecretDeleteState = "in-use"
)

// SecretDeleteProps asks whether a secret is to be deleted.
type SecretDeleteProps struct {
	state    SecretDeleteState
	secret   environment.StoredSecret
	bindings []environment.SecretBinding
	failure  string
}

// NewSecretDelete makes the question. bindings are what refers to the secret;
// failed is why the last attempt was refused, nil for none.
func NewSecretDelete(s environment.StoredSecret, bindings []environment.SecretBinding, failed *environment.Error) SecretDeleteProps {
	p := SecretDeleteProps{state: SecretDeleteReady, secret: s, bindings: bindings}
	if len(bindings) > 0 {
		p.state = SecretDeleteInUse
	} else if failed != nil {
		p.failure = failed.Message
	}
	return p
}
