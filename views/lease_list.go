package views

import (
	"net/url"
	"strings"
	"time"

	"berth/environment"
	"berth/views/ui"

	"github.com/google/uuid"
)

// LeasesPath is the page of the instance's leases.
const LeasesPath = "/company/settings/instance/leases"

// LeasePath is where things are done with a lease.
func LeasePath(id uuid.UUID) string { return LeasesPath + "/" + id.String() }

// LeaseListState is how a list of leases stands.
type LeaseListState string

// The states of the list. Loading is set by the script when an answer is late.
const (
	LeasesFilled  LeaseListState = "filled"
	LeasesNone    LeaseListState = "none"
	LeasesNoMatch LeaseListState = "no-match"
	LeasesLoading LeaseListState = "loading"
	LeasesError   LeaseListState = "error"
)

// LeaseFilter is what a list of leases is narrowed by.
type LeaseFilter struct {
	Status      environment.LeaseStatus
	Environment string // id
	Held, Dead  bool
	Cursor      string
}

func (f LeaseFilter) filtered() bool { return f != LeaseFilter{} }

func (f LeaseFilter) query() url.Values {
	q := url.Values{}
	if f.Status != "" {
		q.Set("status", string(f.Status))
	}
	if f.Environment != "" {
		q.Set("environment", f.Environment)
	}
	if f.Held {
		q.Set("held", "1")
	}
	if f.Dead {
		q.Set("dead", "1")
	}
	return q
}

// LeaseListing is what a list of leases, and the page around it, is made from.
type LeaseListing struct {
	Leases       []environment.Lease // in the order in which they are shown
	Next         string              // cursor of the next page
	Filter       LeaseFilter
	Companies    []environment.Company // whose names are shown; none: no company is
	Environments []environment.EnvironmentView
	MayManage    bool
	// OfEnvironment is the list on an environment's page.
	OfEnvironment bool
	Failed        *environment.Error // why it could not be read; nil when it was
}

func (l LeaseListing) company(id uuid.UUID) string {
	for _, c := range l.Companies {
		if c.ID == id {
			return c.Name
		}
	}
	return ""
}

// LeaseListProps is the list.
type LeaseListProps struct {
	state         LeaseListState
	rows          []LeaseRowProps
	failure       string
	more          string
	ofEnvironment bool
	note          string
	news          string // where the ids are of what the list would show now
	fresh         string // where it is shown
}

// NewLeaseList makes the list.
func NewLeaseList(l LeaseListing, now time.Time) LeaseListProps {
	p := LeaseListProps{state: LeasesFilled, ofEnvironment: l.OfEnvironment}
	if l.Failed != nil {
		p.state, p.failure = LeasesError, l.Failed.Message+" "+l.Failed.Remediation
		return p
	}
	dead := 0
	for _, lease := range l.Leases {
		row := NewLeaseRow(lease, l.company(lease.CompanyID), l.MayManage, now)
		if row.state == LeaseRowDeadLetter {
			dead++
		}
		p.rows = append(p.rows, row)
	}
	p.note = "the right to use a target, for one purpose each"
	if dead > 0 {
		p.note = ui.Count(dead, "clean-up needs", "clean-ups need") + " an operator"
	}
	switch {
	case len(p.rows) == 0 && l.Filter.filtered() && !l.OfEnvironment:
		p.state = LeasesNoMatch
	case len(p.rows) == 0:
		p.state = LeasesNone
	}
	if l.Filter.Cursor == "" {
		q := l.Filter.query()
		p.fresh = strings.TrimSuffix(LeasesPath+"?"+q.Encode(), "?")
		q.Set("ids", "1")
		p.news = LeasesPath + "?" + q.Encode()
	}
	if l.OfEnvironment {
		p.fresh = "?tab=" + string(TabLeases)
	}
	if l.Next != "" {
		q := l.Filter.query()
		q.Set("cursor", l.Next)
		p.more = LeasesPath + "?" + q.Encode()
	}
	return p
}

// Loading is the list while an answer is awaited.
func (p LeaseListProps) Loading() LeaseListProps {
	p.state = LeasesLoading
	return p
}

func (p LeaseListProps) noneText() string {
	if p.ofEnvironment {
		return "Nothing has used this environment yet."
	}
	return "A lease is made by a run or by a test of a sandbox."
}

// LeasesPageState is who looks at the page of leases.
type LeasesPageState string

// The states of the page.
const (
	LeasesShown      LeasesPageState = "shown"
	LeasesRestricted LeasesPageState = "restricted" // to be read only, of the reader's companies
)

// LeasesPageProps is the page.
type LeasesPageProps struct {
	state        LeasesPageState
	list         LeaseListProps
	filter       LeaseFilter
	environments []ui.Option
}

// NewLeasesPage makes the page.
func NewLeasesPage(l LeaseListing, now time.Time) LeasesPageProps {
	p := LeasesPageProps{state: LeasesShown, list: NewLeaseList(l, now), filter: l.Filter, environments: []ui.Option{{Label: "Any environment"}}}
	if !l.MayManage {
		p.state = LeasesRestricted
	}
	for _, e := range l.Environments {
		p.environments = append(p.environments, ui.Option{Value: e.ID.String(), Label: e.Name})
	}
	return p
}

func leaseStatusOptions() []ui.Option {
	options := []ui.Option{{Label: "Any state"}}
	for _, s := range environment.LeaseStatuses() {
		options = append(options, ui.Option{Value: string(s), Label: leasePill(s).text})
	}
	return options
}
