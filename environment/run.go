package environment

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// RunStatus is where a run is.
type RunStatus string

// The states of a run.
const (
	RunQueued     RunStatus = "queued"
	RunAcquiring  RunStatus = "acquiring"
	RunPreparing  RunStatus = "preparing"
	RunRunning    RunStatus = "running"
	RunCancelling RunStatus = "cancelling"
	RunSucceeded  RunStatus = "succeeded"
	RunFailed     RunStatus = "failed"
	RunCancelled  RunStatus = "cancelled"
	RunTimedOut   RunStatus = "timed_out"
	RunLost       RunStatus = "lost"
)

// RunStatuses lists every state.
func RunStatuses() []RunStatus {
	return []RunStatus{RunQueued, RunAcquiring, RunPreparing, RunRunning, RunCancelling, RunSucceeded, RunFailed,
		RunCancelled, RunTimedOut, RunLost}
}

var runMoves = map[RunStatus][]RunStatus{
	RunQueued:     {RunAcquiring, RunFailed, RunCancelled},
	RunAcquiring:  {RunPreparing, RunFailed, RunCancelling, RunCancelled, RunLost},
	RunPreparing:  {RunRunning, RunFailed, RunCancelling, RunCancelled, RunTimedOut, RunLost},
	RunRunning:    {RunSucceeded, RunFailed, RunCancelling, RunCancelled, RunTimedOut, RunLost},
	RunCancelling: {RunCancelled, RunSucceeded, RunFailed, RunTimedOut, RunLost},
}

// CanBecome reports whether a run may go from s to next.
func (s RunStatus) CanBecome(next RunStatus) bool { return slices.Contains(runMoves[s], next) }

// Ended reports whether the state stays.
func (s RunStatus) Ended() bool { return len(runMoves[s]) == 0 }

// KindCommand is a run of one command. Agent turns come later and need neither
// shell nor workspace, so nothing outside running may assume either.
const KindCommand = "command"

// Limits on runs.
const (
	DefaultRunTimeout = 15 * time.Minute
	MaxRunTimeout     = 24 * time.Hour
	MaxRunLog         = 16 << 20 // bytes kept; the middle of a longer log is cut
	RunGrace          = 60 * time.Second
	MaxArgs           = 1000
	MaxStdin          = 512 << 10
)

// Failure says why a run did not succeed.
type Failure struct {
	Code        string `json:"code"`
	Message     string `json:"message"`
	Remediation string `json:"remediation"`
	Stage       string `json:"stage,omitempty"` // probe stage, when reaching the target failed
}

// Phase is one step of a run with its time.
type Phase struct {
	Name       string     `json:"name"` // "queued", "acquire", "prepare", "run", "collect", "release"
	StartedAt  time.Time  `json:"startedAt"`
	FinishedAt *time.Time `json:"finishedAt"`
	DurationMs int64      `json:"durationMs"`
}

// Process is the exact identity of work on a target. Pid alone is reused; with
// the boot id and the start time it is not.
type Process struct {
	BootID    string `json:"bootId"`
	Pid       int    `json:"pid"`
	Pgid      int    `json:"pgid"`
	StartTime string `json:"startTime"` // in the target's own units
	Marker    string `json:"marker"`    // value of BERTH_RUN_ID in every descendant's environment
	Dir       string `json:"dir"`       // the run folder on the target
}

// Run is one bounded command in a leased target.
type Run struct {
	ID            uuid.UUID
	CompanyID     uuid.UUID
	EnvironmentID *uuid.UUID // nil: deleted since; EnvironmentName stays
	// EnvironmentName, Driver and Target are as they were when the run began.
	EnvironmentName string
	Driver          string
	Target          string
	Kind            string
	// AgentID is the agent that the run is of; nil for a person's.
	AgentID    *uuid.UUID
	Title      *string
	Command    []string // argv
	Cwd        *string  // as asked; WorkingDir is where it really ran
	WorkingDir *string
	EnvNames   []string // names only
	TimeoutSec int
	// Native demands a current qualification, and runs from exactly its image.
	Native bool
	// Provider is the sandbox's; "" for other drivers.
	Provider string
	Status   RunStatus
	ExitCode *int
	Signal   *string // "TERM", "KILL", ...
	Failure  *Failure
	Host     *HostFacts
	Phases   []Phase
	Process  *Process
	// Termination is "proven", "unproven" or "" (never started): whether Berth
	// saw that nothing of the run is left on the target.
	Termination string
	LeaseID     *uuid.UUID
	// LogSize is the number of output bytes that arrived; LogCut the bytes cut
	// out of the middle.
	LogSize   int64
	LogCut    int64
	Owner     uuid.UUID
	ActorName string
	CancelBy  *string // who asked for the end; nil: nobody
	CreatedAt time.Time
	StartedAt *time.Time
	// Deadline is when the timeout ends the command; nil until it started.
	Deadline   *time.Time
	FinishedAt *time.Time
	// Input is the sealed env values and stdin, dropped when the run has begun.
	Input []byte `json:"-"`
}

// OnlyProgress reports whether next differs from r in nothing but how far the
// work has come: not in its end, in what is known of its end, in who asked for
// that, or in who looks after it.
func (r Run) OnlyProgress(next Run) bool {
	return !next.Status.Ended() && r.Owner == next.Owner && r.Termination == next.Termination &&
		same(r.CancelBy, next.CancelBy) && same(r.ExitCode, next.ExitCode) && same(r.Signal, next.Signal) && same(r.Failure, next.Failure)
}

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// Stream is one of a command's two outputs.
type Stream string

// The streams.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// LogChunk is a piece of a run's output. Offset counts the bytes of both
// streams in the order of arrival; StreamOffset those of its own stream.
type LogChunk struct {
	Seq          int64
	Stream       Stream
	Offset       int64
	StreamOffset int64
	Data         []byte
}

// LogPage answers a read of a run's log.
type LogPage struct {
	Chunks     []LogChunk
	NextOffset int64
	Done       bool  // the run ended and this page reaches the end
	Cut        int64 // bytes missing from the middle
	CutAt      int64 // offset at which they are missing
}

// FileInfo is one entry of a workspace folder.
type FileInfo struct {
	Name    string
	Path    string // relative to the workspace, slashes
	Type    string // "file", "dir", "symlink", "other"
	Size    int64
	ModTime time.Time
}

// WorkspaceEntry is a folder's list or a file's content.
type WorkspaceEntry struct {
	Path    string
	IsDir   bool
	Entries []FileInfo // of a folder, by name
	Content []byte     // of a file, at most MaxFileRead bytes
	Size    int64
	Cut     bool // Content is not the whole file
}

// MaxFileRead is how much of a workspace file is read, and MaxDirList how many
// entries of a folder.
const (
	MaxFileRead = 1 << 20
	MaxDirList  = 2000
)

// Key is the driver of the run's target.
func (r Run) Key() DriverKey { return KeyOf(r.Driver, r.Provider) }
