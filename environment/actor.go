package environment

import "github.com/google/uuid"

// ActorKind is the sort of somebody who asks.
type ActorKind string

// Only the local operator exists yet; people and agents come with the mode
// "authenticated".
const (
	ActorNone          ActorKind = ""
	ActorLocalOperator ActorKind = "local_operator"
	ActorSystem        ActorKind = "system" // timeouts, reapers: activity only, may nothing by itself
)

// Actor is who asks. It is an argument of every use case, never a context value.
type Actor struct {
	Kind ActorKind
	ID   uuid.UUID // zero for the local operator and the system
	Name string
}

// LocalOperator is whoever reaches a server in mode local_trusted.
func LocalOperator() Actor { return Actor{Kind: ActorLocalOperator, Name: "local operator"} }

// System is Berth itself, for activity that nobody asked for.
func System() Actor { return Actor{Kind: ActorSystem, Name: "berth"} }
