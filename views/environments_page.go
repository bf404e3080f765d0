package views

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"berth/environment"
	"berth/views/ui"
)

// EnvironmentsPageState is how the list page stands.
type EnvironmentsPageState string

// The states of the list page.
const (
	PageOn         EnvironmentsPageState = "on"
	PageFlagOff    EnvironmentsPageState = "flag-off"
	PageRestricted EnvironmentsPageState = "restricted"
)

// EnvironmentsListState is how the list on it stands.
type EnvironmentsListState string

// The states of the list. Loading is set by the script when an answer is late.
const (
	ListShown   EnvironmentsListState = "shown"
	ListEmpty   EnvironmentsListState = "empty"
	ListNoMatch EnvironmentsListState = "no-match"
	ListLoading EnvironmentsListState = "loading"
	ListError   EnvironmentsListState = "error"
)

// manyRows is from when on rows out of sight are left out of the first layout.
const manyRows = 40

// Listing is what the list page is made from.
type Listing struct {
	Page         environment.Page[environment.EnvironmentView]
	Filter       environment.ListFilter
	Settings     environment.Settings
	Capabilities []environment.Capabilities
	DefaultName  string // "" when no environment is the default
	MayManage    bool
	// Failed is why the list could not be read; nil when it was.
	Failed *environment.Error
}

func (l Listing) installed(key environment.DriverKey) *environment.Capabilities {
	for i, c := range l.Capabilities {
		if c.Key() == key {
			return &l.Capabilities[i]
		}
	}
	return nil
}

func (l Listing) filtered() bool {
	f := l.Filter
	return f.Query != "" || f.Health != "" || f.Driver != "" || f.Status == environment.StatusArchived || f.Cursor != ""
}

// EnvironmentsListProps is the list below the filters.
type EnvironmentsListProps struct {
	state     EnvironmentsListState
	rows      []EnvironmentRowProps
	failure   string
	remedy    string
	archived  bool
	mayManage bool
	more      string // address of the next page, "" on the last
}

// NewEnvironmentsList makes the list.
func NewEnvironmentsList(l Listing, now time.Time) EnvironmentsListProps {
	p := EnvironmentsListProps{state: ListShown, mayManage: l.MayManage, archived: l.Filter.Status == environment.StatusArchived}
	if l.Failed != nil {
		p.state, p.failure, p.remedy = ListError, l.Failed.Message, l.Failed.Remediation
		return p
	}
	for _, v := range l.Page.Items {
		if l.Settings.EnableManagedSandboxOnly && v.Driver == environment.DriverLocal {
			continue
		}
		p.rows = append(p.rows, NewEnvironmentRow(v, l.installed(v.Key()), l.MayManage, now))
	}
	switch {
	case len(p.rows) == 0 && l.filtered():
		p.state = ListNoMatch
	case len(p.rows) == 0:
		p.state = ListEmpty
	}
	if l.Page.Next != "" {
		q := filterQuery(l.Filter)
		q.Set("cursor", l.Page.Next)
		p.more = Environments + "?" + q.Encode()
	}
	return p
}

// Loading is the list while an answer is awaited.
func (p EnvironmentsListProps) Loading() EnvironmentsListProps {
	p.state = ListLoading
	return p
}

func filterQuery(f environment.ListFilter) url.Values {
	q := url.Values{}
	for key, value := range map[string]string{"q": f.Query, "health": string(f.Health), "driver": f.Driver, "sort": f.Sort} {
		if value != "" {
			q.Set(key, value)
		}
	}
	if f.Status == environment.StatusArchived {
		q.Set("archived", "1")
	}
	return q
}

// EnvironmentsPageProps is the list page.
type EnvironmentsPageProps struct {
	state       EnvironmentsPageState
	list        EnvironmentsListProps
	filter      environment.ListFilter
	summary     string
	defaultName string
	sandboxOnly bool
	mayManage   bool
	drivers     []ui.Option
	cannotTest  string // why Test all is not offered
	flag        FlagOffProps
}

// NewEnvironmentsPage makes the list page.
func NewEnvironmentsPage(l Listing, now time.Time) EnvironmentsPageProps {
	p := EnvironmentsPageProps{state: PageOn, list: NewEnvironmentsList(l, now), filter: l.Filter, defaultName: l.DefaultName,
		sandboxOnly: l.Settings.EnableManagedSandboxOnly, mayManage: l.MayManage, flag: NewFlagOff(l.MayManage, Environments)}
	switch {
	case !l.Settings.EnableEnvironments:
		p.state = PageFlagOff
	case !l.MayManage:
		p.state = PageRestricted
	}
	p.drivers = []ui.Option{{Label: "Any driver"}}
	for _, c := range l.Capabilities {
		o := ui.Option{Value: c.Driver, Label: driverName(c.Driver)}
		if !slices.Contains(p.drivers, o) { // one for all providers
			p.drivers = append(p.drivers, o)
		}
	}
	testable := slices.ContainsFunc(p.list.rows, func(r EnvironmentRowProps) bool { return r.canTest() || r.state == RowTesting })
	if !testable {
		p.cannotTest = "There is nothing here that can be tested."
	}
	p.summary = countTargets(l)
	return p
}

// filterText says what the filter looks at.
func (p EnvironmentsPageProps) filterText() string {
	if !p.mayManage {
		return "Filter by name"
	}
	return "Filter by name or address"
}

func countTargets(l Listing) string {
	n, ready := len(l.Page.Items), 0
	for _, v := range l.Page.Items {
		if v.Health() == environment.HealthReady {
			ready++
		}
	}
	s := ui.Count(n, "target", "targets")
	if l.Page.Next != "" {
		s = strconv.Itoa(n) + "+ targets"
	}
	if ready > 0 {
		s += " · " + strconv.Itoa(ready) + " ready"
	}
	return s
}

func healthOptions() []ui.Option {
	options := []ui.Option{{Label: "Any health"}}
	for _, h := range environment.Healths() {
		options = append(options, ui.Option{Value: string(h), Label: healthWord(h, "")})
	}
	return options
}

func sortOptions() []ui.Option {
	return []ui.Option{{Label: "Newest change first"}, {Value: "name", Label: "By name"}, {Value: "health", Label: "By health"},
		{Value: "driver", Label: "By driver"}, {Value: "tested", Label: "Last tested first"}}
}

func noMatchTitle(archived bool) string {
	if archived {
		return "Nothing is archived"
	}
	return "Nothing found"
}
