package environment

import "maps"

// toldOfTargets are the details that an entry about a target keeps for somebody
// who may not see where targets are.
var toldOfTargets = map[string]bool{
	"driver": true, "ok": true, "code": true, "state": true, "status": true, "provider": true, "leasePolicy": true, "environmentId": true,
	"runId": true, "cleanupStatus": true, "failedAttempts": true, "name": true, "revision": true, "changedFields": true, "durationMs": true,
}

// Reduced is an entry as it is told to somebody who may not see where targets are:
// of an environment or a lease, nothing in words, which may name a host.
func (a Activity) Reduced() Activity {
	if a.EntityType != "environment" && a.EntityType != "environment_lease" {
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
