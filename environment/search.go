package environment

import (
	"encoding/json"
	"slices"
	"strings"
)

// SearchText is what ListFilter.Query is looked for in, in lower case: name,
// description, the config's own words and, for ssh, user@host:port. Keys,
// known hosts, certificates and references are not among them: nobody means
// those by a word in the search box.
func SearchText(e Environment) string {
	parts := []string{e.Name, e.Driver}
	if e.Description != nil {
		parts = append(parts, *e.Description)
	}
	var config map[string]any
	if json.Unmarshal(e.Config, &config) == nil {
		delete(config, "knownHosts")
		delete(config, "certificate")
		parts = appendWords(parts, config)
	}
	var ssh SSHConfig
	if e.Driver == DriverSSH && json.Unmarshal(e.Config, &ssh) == nil && ssh.Host != "" {
		parts = append(parts, ssh.Target())
	}
	return strings.ToLower(strings.Join(parts, "\n"))
}

// maxRunSearch is how many characters of a run are searched in.
const maxRunSearch = 4000

// RunSearchText is what a search among runs is for, in lower case: title, name of
// the environment, command with its arguments. Nothing that a member may not see
// of a run is in it.
func RunSearchText(r Run) string {
	title := ""
	if r.Title != nil {
		title = *r.Title
	}
	text := []rune(strings.ToLower(title + "\n" + r.EnvironmentName + "\n" + strings.Join(r.Command, " ")))
	return string(text[:min(len(text), maxRunSearch)])
}

// appendWords appends the strings in v, in the order of their keys.
func appendWords(parts []string, v any) []string {
	switch v := v.(type) {
	case string:
		return append(parts, v)
	case []any:
		for _, item := range v {
			parts = appendWords(parts, item)
		}
	case map[string]any:
		if v["type"] == "secret_ref" {
			return parts
		}
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			parts = appendWords(parts, v[k])
		}
	}
	return parts
}
