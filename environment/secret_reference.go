package environment

import "github.com/google/uuid"

// SecretReference is a reference with what it leads to, for people to see; it
// holds no value.
type SecretReference struct {
	Ref SecretRef
	// Secret is the row; nil: it, or the version that is asked for, is gone.
	Secret *StoredSecret
	// Company is the name of a shared one's company; "" for one that is owned.
	Company string
}

// Missing reports whether the reference leads nowhere.
func (r SecretReference) Missing() bool { return r.Secret == nil }

// Shared reports whether it leads to a company's secret.
func (r SecretReference) Shared() bool { return r.Secret != nil && r.Secret.CompanyID != nil }

// Pinned reports whether one version is asked for rather than the latest.
func (r SecretReference) Pinned() bool { return r.Ref.Version != "latest" && r.Ref.Version != "" }

// Of reports whether it leads to a secret of that company.
func (r SecretReference) Of(company uuid.UUID) bool {
	return r.Shared() && *r.Secret.CompanyID == company
}
