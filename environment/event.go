package environment

import (
	"encoding/json"

	"github.com/google/uuid"
)

// EventKind is the SSE event name.
type EventKind string

// The kinds of events.
const (
	EventStage  EventKind = "stage"
	EventOutput EventKind = "output"
	EventState  EventKind = "state"
	EventEnd    EventKind = "end"
)

// Event is one thing that happened to a probe or a run. Seq orders the events
// of a subject and is the SSE id. An output event carries Chunk, the others
// Payload.
type Event struct {
	Seq     int64
	Subject uuid.UUID
	Kind    EventKind
	Payload json.RawMessage
	Chunk   *LogChunk
}

// ProbeEvent is the payload of a probe's state and end events; a stage event's
// is the Stage.
type ProbeEvent struct {
	State  ProbeState `json:"state"`
	OK     bool       `json:"ok"`
	Code   string     `json:"code"`
	Health Health     `json:"health"`
}

// EventOf is a probe as its events tell it.
func (p Probe) EventOf() ProbeEvent {
	return ProbeEvent{State: p.State, OK: p.OK, Code: p.Code, Health: p.Health()}
}

// RunEvent is the payload of a run's state and end events.
type RunEvent struct {
	Status   RunStatus `json:"status"`
	ExitCode *int      `json:"exitCode"`
	Signal   *string   `json:"signal"`
	Failure  *Failure  `json:"failure"`
}

// EventOf is a run as its events tell it.
func (r Run) EventOf() RunEvent {
	return RunEvent{Status: r.Status, ExitCode: r.ExitCode, Signal: r.Signal, Failure: r.Failure}
}

// Feed wakes readers when rows of a subject changed. A wake-up says only "read
// again": it may be spurious, and after a lost connection to the database every
// subscriber gets one. CatalogueSubject stands for the list of environments.
type Feed interface {
	// Subscribe returns a channel of capacity one and a function that ends the
	// subscription and must be called.
	Subscribe(subject uuid.UUID) (<-chan struct{}, func())
}

// KeysetSubject is woken when the master key was turned over. What a session,
// token or key may do is told under its own id.
var KeysetSubject = uuid.UUID{0xbe, 0x48}

// CatalogueSubject is woken when any environment row or its health changed.
var CatalogueSubject = uuid.UUID{0xbe, 0x47}
