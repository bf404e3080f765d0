package leasing

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"berth/environment"

	"github.com/google/uuid"
)

// scopeKey is for whom a sandbox may be picked up again, in one word: company,
// environment, workspace, agent, adapter, provider, and the configuration with its
// secrets' versions and active template.
func scopeKey(r Request) string {
	id := func(id *uuid.UUID) string {
		if id == nil {
			return ""
		}
		return id.String()
	}
	adapter := []string{}
	if r.AdapterType != nil {
		adapter = append(adapter, *r.AdapterType)
	}
	parts, _ := json.Marshal([]any{ // strings: it cannot fail
		r.CompanyID.String(), r.EnvironmentID.String(), id(r.WorkspaceID), id(r.AgentID), adapter, r.Spec.Key().String(), r.Fingerprint,
	})
	sum := sha256.Sum256(parts)
	return hex.EncodeToString(sum[:])
}

// objectKey names what a lease holds exclusively; nil for what is shared, and for
// what cannot be told from another place's.
func objectKey(driver environment.Driver, ref environment.Ref) *string {
	lister, ok := driver.(environment.Lister)
	if !ok || ref.ProviderID == "" || environment.BorrowedHost(ref.Driver) {
		return nil
	}
	return new(objectIn(ref.Key(), lister.Place(ref.Config), ref.ProviderID))
}

func objectIn(key environment.DriverKey, place, providerID string) string {
	return key.String() + "\n" + place + "\n" + providerID
}
