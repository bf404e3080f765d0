package store

import (
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// runColumns are those of runRow, but for the sealed input.
const runColumns = `id, company_id, environment_id, agent_id, environment_name, driver, target, kind, title, command, cwd, working_dir, env_names,
	timeout_sec, status, exit_code, signal, failure, host, phases, process, termination, lease_id, log_size, log_cut, owner, actor_name,
	cancel_by, created_at, started_at, deadline, finished_at, native, provider`

type runRow struct {
	ID              uuid.UUID             `db:"id"`
	CompanyID       uuid.UUID             `db:"company_id"`
	EnvironmentID   *uuid.UUID            `db:"environment_id"`
	AgentID         *uuid.UUID            `db:"agent_id"`
	EnvironmentName string                `db:"environment_name"`
	Driver          string                `db:"driver"`
	Target          string                `db:"target"`
	Kind            string                `db:"kind"`
	Title           *string               `db:"title"`
	Command         stored                `db:"command"`
	Cwd             *string               `db:"cwd"`
	WorkingDir      *string               `db:"working_dir"`
	EnvNames        stored                `db:"env_names"`
	TimeoutSec      int                   `db:"timeout_sec"`
	Status          environment.RunStatus `db:"status"`
	ExitCode        *int                  `db:"exit_code"`
	Signal          *string               `db:"signal"`
	Failure         stored                `db:"failure"`
	Host            stored                `db:"host"`
	Phases          stored                `db:"phases"`
	Process         stored                `db:"process"`
	Termination     string                `db:"termination"`
	LeaseID         *uuid.UUID            `db:"lease_id"`
	LogSize         int64                 `db:"log_size"`
	LogCut          int64                 `db:"log_cut"`
	Owner           uuid.UUID             `db:"owner"`
	ActorName       string                `db:"actor_name"`
	CancelBy        *string               `db:"cancel_by"`
	CreatedAt       time.Time             `db:"created_at"`
	StartedAt       *time.Time            `db:"started_at"`
	Deadline        *time.Time            `db:"deadline"`
	FinishedAt      *time.Time            `db:"finished_at"`
	Input           []byte                `db:"input"`
	Native          bool                  `db:"native"`
	Provider        string                `db:"provider"`
	Key             string                `db:"key"`
}

func (r runRow) domain() (environment.Run, error) {
	run := environment.Run{ID: r.ID, CompanyID: r.CompanyID, EnvironmentID: r.EnvironmentID, AgentID: r.AgentID, EnvironmentName: r.EnvironmentName,
		Driver: r.Driver, Target: r.Target, Kind: r.Kind, Title: r.Title, Command: []string{}, Cwd: r.Cwd, WorkingDir: r.WorkingDir,
		EnvNames: []string{}, TimeoutSec: r.TimeoutSec, Status: r.Status, ExitCode: r.ExitCode, Signal: r.Signal,
		Phases: []environment.Phase{}, Termination: r.Termination, LeaseID: r.LeaseID, LogSize: r.LogSize, LogCut: r.LogCut,
		Owner: r.Owner, ActorName: r.ActorName, CancelBy: r.CancelBy, CreatedAt: r.CreatedAt.UTC(), StartedAt: utc(r.StartedAt),
		Deadline: utc(r.Deadline), FinishedAt: utc(r.FinishedAt), Input: r.Input,
		Native: r.Native, Provider: r.Provider}
	for _, doc := range []struct {
		from stored
		into any
	}{{r.Command, &run.Command}, {r.EnvNames, &run.EnvNames}, {r.Failure, &run.Failure}, {r.Host, &run.Host},
		{r.Phases, &run.Phases}, {r.Process, &run.Process}} {
		if err := doc.from.into(doc.into); err != nil {
			return run, err
		}
	}
	return run, nil
}
