package views

import (
	"path"
	"unicode/utf8"

	"berth/environment"
	"berth/views/ui"
)

// RunFilesState is what is shown of a run's workspace.
type RunFilesState string

// The states of the workspace's files. Nothing is read from the target until
// somebody asks.
const (
	FilesIdle   RunFilesState = "idle"
	FilesFolder RunFilesState = "folder"
	FilesEmpty  RunFilesState = "empty"
	FilesText   RunFilesState = "text"
	FilesBinary RunFilesState = "binary"
	FilesFailed RunFilesState = "failed"
)

// RunFilesProps is a folder or a file of a run's workspace.
type RunFilesProps struct {
	run     environment.Run
	state   RunFilesState
	entry   environment.WorkspaceEntry
	failure string
	remedy  string
}

// NewRunFilesIdle offers to look.
func NewRunFilesIdle(r environment.Run) RunFilesProps { return RunFilesProps{run: r, state: FilesIdle} }

// NewRunFiles shows what was read, or why it could not be; failed is nil when
// it was read.
func NewRunFiles(r environment.Run, entry environment.WorkspaceEntry, failed *environment.Error) RunFilesProps {
	p := RunFilesProps{run: r, entry: entry}
	switch {
	case failed != nil:
		p.state, p.failure, p.remedy = FilesFailed, failed.Message, failed.Remediation
	case entry.IsDir && len(entry.Entries) == 0:
		p.state = FilesEmpty
	case entry.IsDir:
		p.state = FilesFolder
	case !utf8.Valid(entry.Content) && !entry.Cut:
		p.state = FilesBinary
	default:
		p.state = FilesText
	}
	return p
}

// parent is the folder above; ok is false at the workspace itself.
func (p RunFilesProps) parent() (string, bool) {
	if p.entry.Path == "" || p.entry.Path == "." {
		return "", false
	}
	up := path.Dir(p.entry.Path)
	if up == "." {
		up = ""
	}
	return up, true
}

func (p RunFilesProps) title() string {
	if p.entry.Path == "" || p.entry.Path == "." {
		return "Workspace"
	}
	return p.entry.Path
}

func (p RunFilesProps) path(to string) string { return FilesPath(p.run.CompanyID, p.run.ID, to) }

func (p RunFilesProps) content() string { return visible(string(p.entry.Content)) }

func (p RunFilesProps) sizeNote() string {
	s := ui.Bytes(p.entry.Size)
	if p.entry.Cut {
		s += ", the beginning is shown"
	}
	return s
}

func fileSize(f environment.FileInfo) string {
	if f.Type != "file" {
		return f.Type
	}
	return ui.Bytes(f.Size)
}

func fileName(f environment.FileInfo) string {
	if f.Type == "dir" {
		return f.Name + "/"
	}
	return f.Name
}
