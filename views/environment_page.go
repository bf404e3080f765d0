package views

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/environment"
	"berth/views/ui"
)

// Tab is a part of an environment's page.
type Tab string

// The tabs.
const (
	TabOverview      Tab = "overview"
	TabConfiguration Tab = "configuration"
	TabImage         Tab = "image" // of sandboxes
	TabLeases        Tab = "leases"
	TabRuns          Tab = "runs"
	TabActivity      Tab = "activity"
)

// Tabs lists them in order.
func Tabs() []Tab {
	return []Tab{TabOverview, TabConfiguration, TabImage, TabLeases, TabRuns, TabActivity}
}

// IsWhole tells whether a tab shows what only those see who see environments
// whole.
func (t Tab) IsWhole() bool { return t == TabConfiguration || t == TabImage || t == TabActivity }

// EnvironmentPageState is how an environment stands on its page.
type EnvironmentPageState string

// The states of an environment's page.
const (
	PageActive        EnvironmentPageState = "active"
	PageArchived      EnvironmentPageState = "archived"
	PageMaintenance   EnvironmentPageState = "maintenance"
	PageDriverMissing EnvironmentPageState = "driver-missing"
	PageUnsupported   EnvironmentPageState = "unsupported" // installed, and not to be used here
	PageReadOnly      EnvironmentPageState = "read-only"
)

// Detail is what an environment's page is made from. Only what the tab shows
// needs to be there.
type Detail struct {
	View      environment.EnvironmentView
	Tab       Tab
	Settings  environment.Settings
	Caps      *environment.Capabilities // nil: the driver is not installed
	MayManage bool
	Company   *environment.Company // for links to runs; nil: none is picked
	Probes    []environment.Probe
	Leases    []environment.Lease
	Runs      []environment.Run
	Activity  []environment.Activity
	// References are what its secret references lead to.
	References map[string]environment.SecretReference
	// Fields are those of its driver's schema; none for a driver without one.
	Fields []environment.ConfigField
	// Problems are what of the stored config the driver of now would not take.
	Problems []environment.FieldError
	// Companies are those that the reader may pick.
	Companies []environment.Company
	// Usage is what of its budget is used; nil where nothing is made for a lease.
	Usage *environment.Usage
	// Qualification is of a sandbox, for who sees it whole; nil: it is not shown.
	Qualification *Qualification
}

// EnvironmentPageProps is an environment's page.
type EnvironmentPageProps struct {
	view       environment.EnvironmentView
	state      EnvironmentPageState
	tab        Tab
	pill       pill
	address    string
	mayManage  bool
	mayTest    bool
	flagOff    bool
	capability CapabilityNoticeProps
	probe      *ProbePanelProps
	history    ProbeHistoryProps
	leases     LeaseListProps
	runs       RunListProps
	activity   ActivityListProps
	refs       map[string]environment.SecretReference
	fields     []environment.ConfigField
	problems   []environment.FieldError
	start      *TestStartProps     // of a sandbox
	qualified  *QualificationProps // of a sandbox
	now        time.Time
}

// NewEnvironmentPage makes the page.
func NewEnvironmentPage(d Detail, now time.Time) EnvironmentPageProps {
	v := d.View
	p := EnvironmentPageProps{view: v, tab: d.Tab, pill: healthPill(v), address: address(v.Environment), mayManage: d.MayManage,
		refs: d.References, fields: d.Fields, problems: d.Problems, flagOff: !d.Settings.EnableEnvironments, capability: NewCapabilityNotice(v.Key(), d.Caps), now: now,
		history: NewProbeHistory(d.Probes, v.Recent, now), leases: NewLeaseList(LeaseListing{Leases: d.Leases, MayManage: d.MayManage, OfEnvironment: true, Filter: LeaseFilter{Environment: v.ID.String()}}, now),
		runs: NewRunList(d.Runs, now), activity: NewActivityList(d.Activity, now)}
	switch {
	case d.Caps == nil:
		p.state = PageDriverMissing
	case d.Caps.Unsupported != "":
		p.state = PageUnsupported
	case !d.MayManage:
		p.state = PageReadOnly
	case v.Status == environment.StatusArchived:
		p.state = PageArchived
	case v.Status == environment.StatusMaintenance:
		p.state = PageMaintenance
	default:
		p.state = PageActive
	}
	p.mayTest = d.MayManage && d.Caps != nil && d.Caps.Unsupported == "" && v.Driver != environment.DriverLocal && v.Status != environment.StatusArchived
	if v.Driver == environment.DriverSandbox && d.MayManage {
		start := NewTestStart(v, d.Caps, d.Usage, d.Companies, d.Company, p.cannotTest(d.Caps))
		p.start = &start
	}
	if d.Qualification != nil {
		qualified := NewQualification(v.Environment, *d.Qualification, d.MayManage, now)
		p.qualified = &qualified
	}
	if probe := shownProbe(v); probe != nil {
		panel := NewProbePanel(*probe, v.ConfigRevision, d.MayManage, now)
		p.probe = &panel
	}
	return p
}

// cannotTest is why a sandbox may not be tested; "" when it may.
func (p EnvironmentPageProps) cannotTest(caps *environment.Capabilities) string {
	switch {
	case caps == nil:
		return environment.NotInstalled(p.view.Key()).Message
	case caps.Unsupported != "":
		return caps.Unsupported
	case p.view.Status == environment.StatusArchived:
		return "It is archived. Restore it first."
	case p.flagOff:
		return "Environments are off, so nothing new is started."
	case p.view.Active != nil:
		return "A test is under way."
	}
	return ""
}

// Showing is the page with a test that need not be the newest.
func (p EnvironmentPageProps) Showing(panel ProbePanelProps) EnvironmentPageProps {
	p.probe = &panel
	return p
}

// shownProbe is the test under way, else the last one; nil for none.
func shownProbe(v environment.EnvironmentView) *environment.Probe {
	if v.Active != nil {
		return v.Active
	}
	return v.Last
}

func (p EnvironmentPageProps) tabs() []ui.TabProps {
	tabs := make([]ui.TabProps, 0, 5)
	for _, t := range Tabs() {
		if !p.mayManage && t.IsWhole() || t == TabImage && p.view.Driver != environment.DriverSandbox {
			continue
		}
		word := string(t)
		tabs = append(tabs, ui.TabProps{Label: strings.ToUpper(word[:1]) + word[1:], Href: TabPath(p.view.ID, t), Current: t == p.tab})
	}
	return tabs
}

// invalid says what of the stored config cannot be used any more; "" for nothing.
func (p EnvironmentPageProps) invalid() string {
	if len(p.problems) == 0 || p.cannotUse() {
		return ""
	}
	lines := make([]string, len(p.problems))
	for i, f := range p.problems {
		lines[i] = strings.TrimPrefix(f.Field, "config.") + ": " + f.Message
	}
	return "What is stored here is not valid any more. " + strings.Join(lines, " ")
}

// facts are the first things to know about an environment.
func (p EnvironmentPageProps) facts() []ui.Pair {
	pairs := []ui.Pair{{Key: "Driver", Value: kindName(p.view.Key())}}
	if p.view.Driver == environment.DriverSandbox {
		pairs[0].Value = "Sandbox on " + pairs[0].Value
	}
	if line := budgetLine(p.view.Budget); line != "" {
		pairs = append(pairs, ui.Pair{Key: "Account", Value: line})
	}
	if d := text(p.view.Description); d != "" {
		pairs = append(pairs, ui.Pair{Key: "Description", Value: d})
	}
	if p.address != "" {
		pairs = append(pairs, ui.Pair{Key: p.addressKey(), Value: p.address, Code: true})
	}
	if last := p.view.Last; last != nil && last.Host != nil {
		pairs = append(pairs, ui.Pair{Key: "Host", Value: last.Host.Name})
	}
	if last := p.view.Last; last != nil && last.Platform != nil {
		pairs = append(pairs, ui.Pair{Key: "Platform", Value: platformText(last.Platform)})
	}
	if p.mayManage { // others see the uses of their own companies in the tabs
		uses := usesText(p.view.Uses)
		if uses == "" {
			uses = "Not used yet"
		}
		pairs = append(pairs, ui.Pair{Key: "Use", Value: uses})
	}
	return append(pairs, ui.Pair{Key: "Changed", Value: ui.Ago(p.view.UpdatedAt, p.now)})
}

// settings lists the config as it is stored; a secret reads "stored".
func (p EnvironmentPageProps) settings() []ui.Pair {
	if p.view.Driver == environment.DriverSSH {
		return sshSettings(sshConfig(p.view.Environment), p.refs)
	}
	return schemaSettings(p.fields, p.view.Config, p.refs)
}

func sshSettings(c environment.SSHConfig, refs map[string]environment.SecretReference) []ui.Pair {
	pairs := []ui.Pair{
		{Key: "Host", Value: c.Host, Code: true}, {Key: "Port", Value: strconv.Itoa(c.Port), Code: true},
		{Key: "User", Value: c.Username, Code: true}, {Key: "Workspace folder", Value: c.RemoteWorkspacePath, Code: true},
		{Key: "Private key", Value: storedText(storedKey(c), refs["config.privateKey"])},
		{Key: "Passphrase", Value: storedText(stored(c.PassphraseSecretRef), refs["config.passphrase"])},
		{Key: "Password", Value: storedText(stored(c.PasswordSecretRef), refs["config.password"])}, {Key: "Host key", Value: hostKeyRule(c)},
	}
	optional := []ui.Pair{
		{Key: "Jump hosts", Value: text(c.ProxyJump), Code: true}, {Key: "Required tools", Value: strings.Join(c.RequiredTools, ", "), Code: true},
		{Key: "Certificate", Value: yes(c.Certificate != nil, "given")}, {Key: "Server's agent", Value: yes(c.UseAgent, "used")},
	}
	for _, o := range optional {
		if o.Value != "" {
			pairs = append(pairs, o)
		}
	}
	return append(pairs, ui.Pair{Key: "Keep-alive", Value: keepAlive(c.KeepAliveSec)}, ui.Pair{Key: "Free disk", Value: "warns below " + strconv.Itoa(c.MinFreeMB) + " MB"})
}

// storedText says more of a stored secret where a reference leads to a company's
// or to one that does not open.
func storedText(plain string, r environment.SecretReference) string {
	switch {
	case r.Ref.Type == "":
		return plain
	case r.Missing():
		return "missing: " + referenceFact(r)
	case r.Secret.Disabled && r.Shared():
		return "disabled: " + referenceFact(r)
	case r.Secret.Disabled:
		return "disabled"
	case r.Shared():
		return referenceFact(r)
	}
	return plain
}

func stored(ref *environment.SecretRef) string {
	if ref == nil {
		return "none"
	}
	return "stored"
}

func storedKey(c environment.SSHConfig) string {
	if c.PrivateKeySecretRef == nil || c.KeyFingerprint == nil {
		return stored(c.PrivateKeySecretRef)
	}
	return strings.TrimSpace("stored · " + text(c.KeyType) + " " + *c.KeyFingerprint)
}

func hostKeyRule(c environment.SSHConfig) string {
	if !c.StrictHostKeyChecking {
		return "the first one presented is pinned"
	}
	return "only trusted ones"
}

func keepAlive(seconds int) string {
	if seconds == 0 {
		return "off"
	}
	return "every " + strconv.Itoa(seconds) + " s"
}

func yes(is bool, word string) string {
	if is {
		return word
	}
	return ""
}

// pins are the host keys that are trusted.
func (p EnvironmentPageProps) pins() []environment.HostKey {
	c := sshConfig(p.view.Environment)
	if c.KnownHosts == nil {
		return nil
	}
	return environment.KnownHostsPins(*c.KnownHosts, environment.KnownHostsName(c.Host, c.Port))
}

// variables are names with values; a secret one reads "stored".
func (p EnvironmentPageProps) variables() []ui.Pair {
	pairs := make([]ui.Pair, 0, len(p.view.EnvVars))
	for name, v := range p.view.EnvVars {
		value := v.Value
		if v.Type != "plain" {
			value = storedText("stored secret", p.refs["envVars."+name])
		}
		pairs = append(pairs, ui.Pair{Key: name, Value: value, Code: v.Type == "plain"})
	}
	slices.SortFunc(pairs, func(a, b ui.Pair) int { return strings.Compare(a.Key, b.Key) })
	return pairs
}

func (p EnvironmentPageProps) addressKey() string {
	if p.view.Driver == environment.DriverSandbox {
		return "Image"
	}
	return "Target"
}

// mayEnd: the managed sandbox is neither archived nor deleted while the instance's
// configuration provisions it, and Local never is.
func (p EnvironmentPageProps) mayEnd() bool {
	return p.view.Driver != environment.DriverLocal && !(p.view.Managed && p.view.Provisioned)
}

// image is what is saved, part by part, and what the last test found.
func (p EnvironmentPageProps) image() []ui.Pair {
	text := sandboxImage(p.view.Config)
	pairs := []ui.Pair{{Key: "Saved", Value: text, Code: true}}
	if image, problem := environment.ParseImage(text); problem == "" {
		pairs = append(pairs, imagePairs(image)...)
	}
	if last := p.view.Last; last != nil && last.Image != nil && last.ConfigRevision == p.view.ConfigRevision {
		pairs = append(pairs, identityPairs(*last.Image)...)
	}
	return pairs
}

// cannotUse: its driver is not there, or not to be used here.
func (p EnvironmentPageProps) cannotUse() bool {
	return p.state == PageDriverMissing || p.state == PageUnsupported
}
