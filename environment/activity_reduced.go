package environment

import "maps"

// toldOfTargets are the details that an entry about a target keeps for somebody
// who may not see where targets are.
var toldOfTargets = map[string]bool{
	"driver": true, "ok": true, "code": true, "state": true, "status": true, "provider": true, "leasePolicy": true, "environmentId": true,
	"runId": true, "cleanupStatus": true, "failedAttempts": true, "name": true, "revision": true, "changedFields": true, "durationMs": true,
}

// Reduced is an entry as it is told to somebody who may not see where targets are:
// of an environment, a lease or a sandbox, nothing in words, which may name a host,
// and no provider's id.
func (a Activity) Reduced() Activity {
	switch a.EntityType {
	case "environment", "environment_lease":
	case "sandbox":
		a.EntityID = "" // the provider's
	default:
		return a
	}
	told := maps.Clone(a.Details)
	maps.DeleteFunc(told, func(key string, _ any) bool { return !toldOfTargets[key] })
	if reason, is := a.Details["failureReason"].(string); is && isCode(reason) {
		told["failureReason"] = reason
	}
	a.Details = told
	return a
}
