// Package access answers one question: may this actor do this?
package access

import (
	"errors"

	"berth/environment"

	"github.com/google/uuid"
)

// Action is something that an actor wants to do.
type Action string

// The actions, grouped as the table of who may do what.
const (
	ReadEnvironments  Action = "environments.read"   // reduced, unless SeeWhole
	ManageEnvironment Action = "environments.manage" // create, change, archive, delete, probe, trust
	ReadSettings      Action = "settings.read"
	ManageSettings    Action = "settings.manage"
	ReadMetrics       Action = "metrics.read"
	ManagePeople      Action = "people.manage" // people, invitations, roles, sessions of others
	ManageCompanies   Action = "companies.manage"
	RotateKey         Action = "keyset.rotate"
	ManageLeases      Action = "leases.manage" // release, destroy, retry cleanup
	// SeeWhole is to see config, variables, hosts and provider ids.
	SeeWhole Action = "whole.see"
	// RunOnLocal is to run work on the machine that Berth itself runs on.
	RunOnLocal Action = "local.run"

	ReadCompanies     Action = "companies.read"
	ReadRuns          Action = "runs.read"
	StartRun          Action = "runs.start"
	CancelRun         Action = "runs.cancel"
	ReadLeases        Action = "leases.read"
	ReadProbes        Action = "probes.read"
	ReadActivity      Action = "activity.read" // of the instance or of a company
	ManageSecrets     Action = "secrets.manage"
	ManageAgents      Action = "agents.manage" // agents and their keys
	AssignEnvironment Action = "environments.assign"

	// ManageAccount is to change one's own name, password, sessions and tokens.
	ManageAccount Action = "account.manage"
)

// Subject is what the action is about.
type Subject struct {
	company  uuid.UUID
	run      bool
	agent    uuid.UUID // of a run: the agent that it is of
	anywhere bool
	nobodys  bool // of no company, and so foreign to all who are not everywhere
}

// Instance is the subject of actions that belong to no company.
var Instance = Subject{}

// Somewhere is the subject of a question that comes before any read: whether the
// actor may do it in any company at all. Once the row is read, May is asked again
// with its company.
var Somewhere = Subject{anywhere: true}

// Company is the subject of actions within a company. The zero id is no company's
// and names something that is foreign to whoever is not everywhere.
func Company(id uuid.UUID) Subject { return Subject{company: id, nobodys: id == uuid.Nil} }

// Owned is the subject of actions on what belongs to a company or, with nil, to
// none: that is foreign to whoever is not everywhere.
func Owned(company *uuid.UUID) Subject {
	if company == nil {
		return Subject{nobodys: true}
	}
	return Company(*company)
}

// Run is the subject of actions on a run: its company and the agent whose it is.
func Run(r environment.Run) Subject {
	s := Company(r.CompanyID)
	s.run = true
	if r.AgentID != nil {
		s.agent = *r.AgentID
	}
	return s
}

// Causes of a refusal, for the log of attempts; neither shows in an answer.
var (
	ErrRole    = errors.New("refused by role")
	ErrForeign = errors.New("refused: of another company")
)

// May returns nil when actor may do action on subject. Else it is
// KindUnauthenticated for nobody, KindForbidden (wrapping ErrRole) where the role
// does not allow it anywhere, and, for a company that the actor has no part in,
// exactly what a company that does not exist gives: KindNotFound with code
// company_not_found (wrapping ErrForeign). It is called before any read; a row
// that is found by its id is asked for with Somewhere before and with its own
// subject, through Hide, after. The system may nothing: it acts, and does not ask.
func May(actor environment.Actor, action Action, subject Subject) error {
	switch actor.Kind {
	case environment.ActorNone:
		return environment.NewError(environment.KindUnauthenticated, "unauthenticated", "Sign in first.")
	case environment.ActorLocalOperator:
		if action == ManageAccount {
			return refuse(actor, action)
		}
		return nil
	}
	if actor.Everywhere() {
		return nil
	}
	if subject.company != uuid.Nil && !actor.In(subject.company) || strange(actor, subject) {
		if !allowed(actor, action, Somewhere) {
			return refuse(actor, action)
		}
		return environment.NotFound("company").Because(ErrForeign)
	}
	if allowed(actor, action, subject) {
		return nil
	}
	return refuse(actor, action)
}

// Whole reports whether an actor sees config, variables, hosts and provider ids.
func Whole(actor environment.Actor) bool { return May(actor, SeeWhole, Instance) == nil }

// strange reports whether the subject is no company's, or a run that is not the
// agent's own: it may not know of others.
func strange(actor environment.Actor, subject Subject) bool {
	return subject.nobodys ||
		actor.Kind == environment.ActorAgent && subject.run && (subject.agent == uuid.Nil || subject.agent != actor.ID)
}

// Hide turns the refusal of a thing that was found by its id into the answer for
// one that does not exist, so that the two cannot be told apart: be it another
// company's, or of a company in which the actor has a lesser role than elsewhere.
func Hide(err error, missing *environment.Error) error {
	for _, cause := range []error{ErrForeign, ErrRole} {
		if errors.Is(err, cause) {
			return missing.Because(cause)
		}
	}
	return err
}

// allowed is the table, for people who are not instance admins and for agents.
func allowed(actor environment.Actor, action Action, subject Subject) bool {
	if actor.Kind == environment.ActorAgent {
		return agentMay(action, subject)
	}
	if actor.Kind != environment.ActorPerson {
		return false
	}
	switch action {
	case ManageAccount:
		return true
	case ReadEnvironments, ReadCompanies:
		return len(actor.Roles) > 0
	case ReadRuns, StartRun, CancelRun, ReadLeases, ReadProbes:
		return subject != Instance && has(actor, subject, environment.Roles()...)
	case ReadActivity, ManageSecrets, ManageAgents, AssignEnvironment:
		return subject != Instance && has(actor, subject, environment.RoleOwner, environment.RoleAdmin)
	}
	return false
}

// agentMay is the table for agents. A list of runs is narrowed to the agent's own
// by who makes it.
func agentMay(action Action, subject Subject) bool {
	switch action {
	case ReadCompanies:
		return true
	case StartRun, ReadRuns, CancelRun:
		return subject != Instance
	}
	return false
}

// has reports whether the actor has one of the roles in the subject's company,
// or, for Somewhere, in any.
func has(actor environment.Actor, subject Subject, wanted ...environment.Role) bool {
	for company, role := range actor.Roles {
		if subject.company != uuid.Nil && company != subject.company {
			continue
		}
		for _, w := range wanted {
			if role == w {
				return true
			}
		}
	}
	return false
}

func refuse(actor environment.Actor, action Action) error {
	e := environment.Forbidden("You may not do this. "+whoMay(actor, action)).With("action", string(action))
	return e.Because(ErrRole)
}

// whoMay names those who could do what was refused.
func whoMay(actor environment.Actor, action Action) string {
	switch action {
	case ReadActivity, ManageSecrets, ManageAgents, AssignEnvironment:
		if actor.Kind == environment.ActorPerson {
			return "Ask an owner or admin of the company."
		}
	case ManageAccount:
		return "Only people who sign in have an account."
	}
	return "Ask an instance admin."
}
