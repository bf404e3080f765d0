package views

import (
	"slices"

	"berth/environment"
	"berth/views/ui"

	"github.com/google/uuid"
)

// DeleteDialogState is whether a delete would go through.
type DeleteDialogState string

// The states of the delete dialog.
const (
	DeleteReady    DeleteDialogState = "ready"
	DeleteReassign DeleteDialogState = "reassign" // goes through once another default is chosen
	DeleteBlocked  DeleteDialogState = "blocked"
)

// DeleteDialogProps says what a delete would touch and asks.
type DeleteDialogProps struct {
	env     environment.Environment
	state   DeleteDialogState
	impact  environment.Impact
	others  []ui.Option
	reasons []string
	failure string
	choose  string // what is wrong with the choice of what takes over
}

// NewDeleteDialog makes the dialog. others are the environments that could take
// over; failed is why the last attempt was refused, nil for none.
func NewDeleteDialog(e environment.Environment, impact environment.Impact, others []environment.EnvironmentView, failed *environment.Error) DeleteDialogProps {
	p := DeleteDialogProps{env: e, impact: impact, state: DeleteReady, others: []ui.Option{{Label: "Choose one"}}}
	for _, o := range others {
		if o.ID != e.ID && o.Status == environment.StatusActive {
			p.others = append(p.others, ui.Option{Value: o.ID.String(), Label: o.Name + " · " + kindName(o.Key())})
		}
	}
	for _, b := range impact.Blocked {
		p.reasons = append(p.reasons, blockedText(b))
	}
	switch {
	case len(impact.Blocked) == 0:
	case !slices.ContainsFunc(impact.Blocked, func(b string) bool { return b != "instance_default" && b != "agent_default" }):
		p.state = DeleteReassign
	default:
		p.state = DeleteBlocked
	}
	switch {
	case failed == nil:
	case p.state == DeleteReassign:
		p.choose = "Choose what takes its place."
		if m := fieldErrors(failed)["reassignTo"]; m != "" {
			p.choose = m
		}
	default:
		p.failure = failed.Message
	}
	return p
}

func blockedText(reason string) string {
	switch reason {
	case "managed_local":
		return "It is this server's own environment, which always stays."
	case "instance_default":
		return "It is the instance's default environment."
	case "agent_default":
		return "Agents work in it by default."
	case "active_use":
		return "Work is under way in it. Cancel its runs or wait for them."
	case "managed_sandbox", environment.CodeEnvironmentManaged:
		return "The instance's own configuration provisions it. Take it out there first."
	case "pending_sandbox_cleanup":
		return "Something of it is still being cleaned up on the target."
	}
	return reason
}

// takesOver says what the environment that is chosen takes over.
func (p DeleteDialogProps) takesOver() string {
	agents := ui.Count(p.impact.Uses.AgentDefaults, "agent works", "agents work")
	switch {
	case p.impact.Uses.AgentDefaults == 0:
		return "It is the instance's default. Choose what takes its place."
	case p.impact.IsDefault:
		return "It is the instance's default, and " + agents + " in it by default. Choose what takes its place for both."
	}
	return agents + " in it by default. Choose what takes its place."
}

// touched lists what would go and what would stay.
func (p DeleteDialogProps) touched() []string {
	list := []string{"Its configuration and its tests are deleted."}
	if n := p.impact.SecretCount; n > 0 {
		list = append(list, ui.Count(n, "stored secret is", "stored secrets are")+" deleted with it.")
	}
	if n := p.impact.Uses.Retained; n > 0 {
		list = append(list, ui.Count(n, "stopped sandbox that is kept for reuse is", "stopped sandboxes that are kept for reuse are")+" destroyed, with all that is in "+map[bool]string{true: "it", false: "them"}[n == 1]+".")
	}
	if n := p.impact.Uses.PendingCleanup; n > 0 {
		list = append(list, ui.Count(n, "clean-up goes", "clean-ups go")+" on until the provider confirms it.")
	}
	if n := p.impact.Uses.Runs; n > 0 {
		list = append(list, ui.Count(n, "run stays", "runs stay")+" readable, with its name and target.")
	}
	return list
}

// deletePath is the dialog's address.
func deletePath(id uuid.UUID) string { return EnvironmentPath(id) + "/delete" }

func (p DeleteDialogProps) archived() bool { return p.env.Status == environment.StatusArchived }
