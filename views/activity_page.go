package views

import (
	"net/url"
	"time"

	"berth/environment"
	"berth/views/ui"
)

// ActivityListProps is who did what, newest first.
type ActivityListProps struct {
	state    ListState
	entries  []environment.Activity
	subjects bool // says what each entry is about
	now      time.Time
}

// NewActivityList makes the log.
func NewActivityList(entries []environment.Activity, now time.Time) ActivityListProps {
	return ActivityListProps{state: listState(len(entries)), entries: entries, now: now}
}

// WithSubjects is the log of more than one thing.
func (p ActivityListProps) WithSubjects() ActivityListProps {
	p.subjects = true
	return p
}

// ActivityPageState is how the page of the log stands.
type ActivityPageState string

// The states of the page.
const (
	ActivityShown   ActivityPageState = "shown"
	ActivityNone    ActivityPageState = "none"
	ActivityNoMatch ActivityPageState = "no-match"
	ActivityError   ActivityPageState = "error"
)

// ActivityQuery is what the log is narrowed to, as typed.
type ActivityQuery struct{ Action, Actor, Since, Until string }

func (q ActivityQuery) empty() bool { return q == ActivityQuery{} }

func (q ActivityQuery) values() url.Values {
	v := url.Values{}
	for key, value := range map[string]string{"action": q.Action, "actor": q.Actor, "since": q.Since, "until": q.Until} {
		if value != "" {
			v.Set(key, value)
		}
	}
	return v
}

// Record is what the page of the log is made from.
type Record struct {
	Company *environment.Company // nil: the whole instance
	Query   ActivityQuery
	Filter  environment.ActivityFilter
	Page    environment.Page[environment.Activity]
	Failed  *environment.Error // why it could not be read; nil when it was
}

// ActivityPageProps is the log of a company or of the instance.
type ActivityPageProps struct {
	state    ActivityPageState
	company  *environment.Company
	query    ActivityQuery
	list     ActivityListProps
	failure  string
	bad      string // the field of the query that cannot be read
	older    string
	csv      string
	jsonLink string
}

// NewActivityPage makes the page.
func NewActivityPage(r Record, now time.Time) ActivityPageProps {
	p := ActivityPageProps{state: ActivityShown, company: r.Company, query: r.Query, list: NewActivityList(r.Page.Items, now).WithSubjects()}
	switch {
	case r.Failed != nil:
		p.state, p.failure = ActivityError, r.Failed.Message
		if len(r.Failed.Fields) > 0 {
			p.bad = r.Failed.Fields[0].Field
		}
	case len(r.Page.Items) == 0 && (!r.Query.empty() || r.Filter.Cursor != ""):
		p.state = ActivityNoMatch
	case len(r.Page.Items) == 0:
		p.state = ActivityNone
	}
	if r.Page.Next != "" {
		q := r.Query.values()
		q.Set("cursor", r.Page.Next)
		p.older = p.path() + "?" + q.Encode()
	}
	p.csv, p.jsonLink = exportPath(r, "csv"), exportPath(r, "json")
	return p
}

// exportPath is the same log for a program: the API's, with the same filter.
func exportPath(r Record, format string) string {
	q := url.Values{"format": {format}}
	if r.Filter.Action != "" {
		q.Set("action", r.Filter.Action)
	}
	if r.Filter.Actor != "" {
		q.Set("actor", r.Filter.Actor)
	}
	if r.Filter.Since != nil {
		q.Set("since", r.Filter.Since.UTC().Format(time.RFC3339))
	}
	if r.Filter.Until != nil {
		q.Set("until", r.Filter.Until.UTC().Format(time.RFC3339))
	}
	path := "/api/activity"
	if r.Company != nil {
		path = "/api/companies/" + r.Company.ID.String() + "/activity"
	}
	return path + "?" + q.Encode()
}

func (p ActivityPageProps) path() string {
	if p.company == nil {
		return InstanceActivityPath
	}
	return CompanyActivityPath(p.company.ID)
}

func (p ActivityPageProps) whose() string {
	if p.company == nil {
		return "the whole instance"
	}
	return p.company.Name
}

// actions are the groups of actions that the log can be narrowed to.
func (p ActivityPageProps) actions() []ui.Option {
	options := []ui.Option{{Label: "Any action"}, {Value: "environment.", Label: "Environments"}, {Value: "run.", Label: "Runs"},
		{Value: "environment.lease_", Label: "Leases"}, {Value: "secret.", Label: "Secrets"}, {Value: "agent.", Label: "Agents"},
		{Value: "agent_key.", Label: "Agents' keys"}, {Value: "person.", Label: "People"}, {Value: "token.", Label: "Personal tokens"},
		{Value: "company.", Label: "Companies"}, {Value: "instance.", Label: "Settings"}, {Value: "keyset.", Label: "Master key"}, {Value: "access.", Label: "Refusals"}}
	for _, o := range options {
		if o.Value == p.query.Action {
			return options
		}
	}
	return append(options, ui.Option{Value: p.query.Action, Label: p.query.Action})
}
