package views

import (
	"strconv"
	"strings"

	"berth/environment"
	"berth/views/ui"
)

func runPill(s environment.RunStatus) pill {
	word := strings.ReplaceAll(string(s), "_", " ")
	word = strings.ToUpper(word[:1]) + word[1:]
	switch s {
	case environment.RunSucceeded:
		return pill{ui.OK, word}
	case environment.RunFailed, environment.RunTimedOut, environment.RunLost:
		return pill{ui.Bad, word}
	case environment.RunCancelled:
		return pill{ui.Plain, word}
	}
	return pill{ui.Busy, word}
}

// commandLine is an argv as one would type it: an argument with anything but
// plain characters is quoted for sh.
func commandLine(argv []string) string {
	parts := make([]string, 0, len(argv))
	for _, a := range argv {
		plain := a != "" && strings.Trim(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-") == ""
		if !plain {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		parts = append(parts, a)
	}
	return strings.Join(parts, " ")
}

// shownCommand is what a run is known by: its title, else its command; a
// script for sh without the sh.
func shownCommand(r environment.Run) string {
	if t := text(r.Title); t != "" {
		return t
	}
	if script, ok := shellScript(r.Command); ok {
		return script
	}
	return commandLine(r.Command)
}

// RunTitle is shownCommand, short enough for a title.
func RunTitle(r environment.Run) string {
	const most = 60
	title := []rune(strings.Join(strings.Fields(shownCommand(r)), " "))
	if len(title) > most {
		return string(title[:most]) + "…"
	}
	return string(title)
}

// shellScript returns the text that a command hands to /bin/sh, when that is
// all that it does.
func shellScript(argv []string) (string, bool) {
	if len(argv) == 3 && argv[0] == "/bin/sh" && argv[1] == "-c" {
		return argv[2], true
	}
	return "", false
}

// outcome is how a run ended: "exit 3", "TERM", "".
func outcome(r environment.Run) string {
	switch {
	case r.Signal != nil && r.ExitCode != nil:
		return "exit " + strconv.Itoa(*r.ExitCode) + " · signal " + *r.Signal
	case r.Signal != nil:
		return "signal " + *r.Signal
	case r.ExitCode != nil:
		return "exit " + strconv.Itoa(*r.ExitCode)
	}
	return ""
}

// took is how long a run's command ran; "" before it ended.
func took(r environment.Run) string {
	if r.StartedAt == nil || r.FinishedAt == nil {
		return ""
	}
	return ui.Millis(r.FinishedAt.Sub(*r.StartedAt).Milliseconds())
}
