package sshdtest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

func (s *Server) logFile() string { return filepath.Join(s.Dir, "log") }

// Log is all that sshd has logged, of every start.
func (s *Server) Log() string {
	b, err := os.ReadFile(s.logFile())
	if err != nil && !os.IsNotExist(err) {
		s.t.Error(err)
	}
	return string(b)
}

// ClearLog empties the log.
func (s *Server) ClearLog() {
	s.t.Helper()
	if err := os.Truncate(s.logFile(), 0); err != nil {
		s.t.Fatal(err)
	}
}

// Stop ends the listener. Connections and what they run go on.
func (s *Server) Stop() {
	s.t.Helper()
	s.signal(syscall.SIGTERM)
}

// Restart is Stop and Start: new host keys are taken.
func (s *Server) Restart() {
	s.t.Helper()
	s.Stop()
	s.Start()
}

// Kill ends the listener and every connection at once, as a crash would. What
// the connections ran goes on.
func (s *Server) Kill() {
	s.t.Helper()
	connections := s.connections()
	s.signal(syscall.SIGKILL)
	kill(connections)
}

// DropConnections breaks every connection, as a network would.
func (s *Server) DropConnections() { kill(s.connections()) }

// Connections counts the processes that serve connections.
func (s *Server) Connections() int { return len(s.connections()) }

func (s *Server) signal(signal syscall.Signal) {
	s.t.Helper()
	select {
	case <-s.ended:
		return
	default:
	}
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Errorf("signal sshd: %v", err)
	}
	<-s.ended
}

func kill(pids []int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
	}
}

// connections are the sshd processes below the listener.
func (s *Server) connections() []int {
	parents, names := map[int]int{}, map[int]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is fine
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		open, shut := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if open < 0 || shut < open || err != nil {
			continue
		}
		fields := strings.Fields(string(b[shut+1:]))
		names[pid] = string(b[open+1 : shut])
		if fields[0] == "Z" {
			continue
		}
		parents[pid], _ = strconv.Atoi(fields[1])
	}
	var found []int
	below := map[int]bool{s.cmd.Process.Pid: true}
	for grown := true; grown; {
		grown = false
		for pid, parent := range parents {
			if below[parent] && !below[pid] && strings.HasPrefix(names[pid], "sshd") {
				below[pid], grown = true, true
				found = append(found, pid)
			}
		}
	}
	return found
}

// Processes are those that sessions of this server started and that still live,
// also when they left their session: pid and command line. Those that cleared
// their environment are not seen.
func (s *Server) Processes() map[int]string {
	found := map[int]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is fine
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+s.mark)) {
			continue
		}
		dir := filepath.Dir(file)
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline")) // it may be gone
		found[pid] = strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
	}
	return found
}

// cleanup ends the server and everything that its sessions started.
func (s *Server) cleanup() {
	s.Kill()
	for range 100 {
		left := s.Processes()
		if len(left) == 0 {
			return
		}
		for pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
		}
	}
}

// AddLine adds a line to the configuration. A running sshd takes it at its next
// start.
func (s *Server) AddLine(line string) {
	s.t.Helper()
	s.config.Lines = append(s.config.Lines, line)
	s.configure()
}
