package environment

// Judge fills in Blocked: what stands in the way of deleting the environment.
// A default, of the instance or of agents, that is reassigned in the same act
// does not.
func (i *Impact) Judge(reassigned bool) {
	i.Blocked = []string{}
	if i.IsManagedLocal {
		i.Blocked = append(i.Blocked, "managed_local")
	}
	if i.IsDefault && !reassigned {
		i.Blocked = append(i.Blocked, "instance_default")
	}
	if i.Uses.AgentDefaults > 0 && !reassigned {
		i.Blocked = append(i.Blocked, "agent_default")
	}
	if i.Uses.ActiveLeases > 0 || i.Uses.ActiveRuns > 0 {
		i.Blocked = append(i.Blocked, "active_use")
	}
	if i.Uses.PendingCleanup > 0 {
		i.Blocked = append(i.Blocked, "pending_sandbox_cleanup")
	}
}
