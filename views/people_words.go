package views

import (
	"slices"
	"strings"
	"time"

	"berth/environment"
	"berth/views/ui"
)

// roleWord is a role as people say it.
func roleWord(r environment.Role) string {
	switch r {
	case environment.RoleOwner:
		return "Owner"
	case environment.RoleAdmin:
		return "Admin"
	case environment.RoleMember:
		return "Member"
	}
	return "No role"
}

// roleOptions are the roles to choose from; none is the word for no role, ""
// when a role must be chosen.
func roleOptions(none string) []ui.Option {
	var options []ui.Option
	if none != "" {
		options = append(options, ui.Option{Label: none})
	}
	for _, r := range slices.Backward(environment.Roles()) {
		options = append(options, ui.Option{Value: string(r), Label: roleWord(r)})
	}
	return options
}

// rolesText lists what somebody is, company by company; "" for nothing.
func rolesText(p environment.Person, companies []environment.Company) string {
	var parts []string
	for _, c := range companies {
		if role, is := p.Roles[c.ID]; is {
			parts = append(parts, roleWord(role)+" of "+c.Name)
		}
	}
	return strings.Join(parts, " · ")
}

// personPill says whether somebody may sign in, and whether they may do all.
func personPill(p environment.Person) pill {
	switch {
	case p.DisabledAt != nil:
		return pill{ui.Bad, "Disabled"}
	case p.InstanceAdmin:
		return pill{ui.OK, "Instance admin"}
	case len(p.Roles) == 0:
		return pill{ui.Warn, "No role"}
	}
	return pill{ui.Plain, "Member"}
}

// keyPill says whether a key or token counts.
func keyPill(k environment.Key, now time.Time) pill {
	switch {
	case k.RevokedAt != nil:
		return pill{ui.Bad, "Revoked"}
	case !k.Usable(now):
		return pill{ui.Warn, "Expired"}
	case k.LastUsedAt == nil:
		return pill{ui.Plain, "Never used"}
	}
	return pill{ui.OK, "In use"}
}

// browserText is a browser as people know it, out of what it calls itself.
func browserText(agent string) string {
	browser := firstOf(agent, "Edg/", "Edge", "Firefox/", "Firefox", "Chrome/", "Chrome", "Safari/", "Safari")
	system := firstOf(agent, "iPhone", "iPhone", "iPad", "iPad", "Android", "Android", "Windows", "Windows", "Mac OS X", "macOS", "CrOS", "ChromeOS", "Linux", "Linux")
	switch {
	case browser != "" && system != "":
		return browser + " on " + system
	case browser != "":
		return browser
	case agent == "":
		return "A browser that does not say which"
	}
	name, _, _ := strings.Cut(agent, "/")
	return name
}

// firstOf is the word of the first mark that is in a text; marks and words take
// turns.
func firstOf(text string, marksAndWords ...string) string {
	for pair := range slices.Chunk(marksAndWords, 2) {
		if strings.Contains(text, pair[0]) {
			return pair[1]
		}
	}
	return ""
}

// lifeOptions are how long a token or key may live.
func lifeOptions() []ui.Option {
	return []ui.Option{{Value: "30", Label: "30 days"}, {Value: "90", Label: "90 days"}, {Value: "365", Label: "A year"}, {Value: "0", Label: "Until it is revoked"}}
}
