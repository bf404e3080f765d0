package environment

// RemoteAdapters are the adapters whose agents work wherever a command can be
// run: those that are known to, and "process", which is any command. An agent of
// any other adapter works on this machine alone.
func RemoteAdapters() []string {
	return []string{"claude_local", "codex_local", "cursor", "gemini_local", "grok_local", "opencode_local", "pi_local", "process"}
}
