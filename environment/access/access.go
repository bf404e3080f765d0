// Package access answers one question: may this actor do this?
package access

import (
	"berth/environment"

	"github.com/google/uuid"
)

// Action is something that an actor wants to do.
type Action string

// The actions, grouped as the table of who may do what.
const (
	ReadEnvironments  Action = "environments.read"
	ManageEnvironment Action = "environments.manage" // create, change, archive, delete, probe, trust
	ReadSettings      Action = "settings.read"
	ManageSettings    Action = "settings.manage"
	ReadCompanies     Action = "companies.read"
	ManageCompanies   Action = "companies.manage"
	ReadRuns          Action = "runs.read"
	StartRun          Action = "runs.start"
	CancelRun         Action = "runs.cancel"
	ReadLeases        Action = "leases.read"
	ManageLeases      Action = "leases.manage"
	ReadActivity      Action = "activity.read"
	ReadMetrics       Action = "metrics.read"
)

// Subject is what the action is about; zero for the instance.
type Subject struct{ CompanyID uuid.UUID }

// Instance is the subject of actions that belong to no company.
var Instance = Subject{}

// Company is the subject of actions within a company.
func Company(id uuid.UUID) Subject { return Subject{CompanyID: id} }

// May returns nil when actor may do action on subject, else an error of
// KindForbidden (by role) or KindUnauthenticated. It is called before any read.
func May(actor environment.Actor, action Action, subject Subject) error {
	switch actor.Kind {
	case environment.ActorLocalOperator, environment.ActorSystem:
		return nil
	case environment.ActorNone:
		return environment.NewError(environment.KindUnauthenticated, "unauthenticated", "Sign in first.")
	}
	return environment.Forbidden("You may not do this. Ask an instance admin.").With("action", string(action)).
		With("instance", subject == Instance)
}
