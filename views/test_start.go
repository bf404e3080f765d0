package views

import (
	"time"

	"berth/environment"
	"berth/views/ui"
)

// TestStartState is whether a sandbox can be tested now.
type TestStartState string

// The states of what stands before a test that costs something.
const (
	TestReady     TestStartState = "ready"
	TestExhausted TestStartState = "exhausted" // the account's budget is used up
	TestBlocked   TestStartState = "blocked"
)

// TestStartProps is what to know before a test of a sandbox: what it does, whose
// account it uses, and for whom it is.
type TestStartProps struct {
	state     TestStartState
	env       environment.EnvironmentView
	usage     *environment.Usage
	companies []environment.Company
	company   *environment.Company
	cannot    string
	budget    time.Duration
	here      bool // the result is shown on the same page
	oob       bool
}

// NewTestStart makes it. cannot says why it may not be tested at all; "".
func NewTestStart(v environment.EnvironmentView, caps *environment.Capabilities, usage *environment.Usage, companies []environment.Company, company *environment.Company, cannot string) TestStartProps {
	p := TestStartProps{state: TestReady, env: v, usage: usage, companies: companies, company: company, cannot: cannot, budget: environment.SandboxProbeLimit}
	if caps != nil && caps.StartupBudgetMs > 0 {
		p.budget = max(p.budget, time.Duration(caps.StartupBudgetMs)*time.Millisecond)
	}
	switch {
	case cannot != "":
		p.state = TestBlocked
	case usage != nil && exhaustedWords(v.Budget, *usage) != "":
		p.state, p.cannot = TestExhausted, exhaustedWords(v.Budget, *usage)
	}
	return p
}

// Here is for the page on which the result is shown.
func (p TestStartProps) Here() TestStartProps {
	p.here = true
	return p
}

// Beside is it as a part of an answer that is about something else.
func (p TestStartProps) Beside() TestStartProps {
	p.here, p.oob = true, true
	return p
}

// facts are the account, its budget and what is used of it.
func (p TestStartProps) facts() []ui.Pair {
	var pairs []ui.Pair
	b := p.env.Budget
	if b != nil && b.AccountLabel != "" {
		pairs = append(pairs, ui.Pair{Key: "Account", Value: b.AccountLabel})
	}
	if p.usage != nil {
		leases, minutes := usageWords(b, *p.usage)
		pairs = append(pairs, ui.Pair{Key: "Leases in use", Value: leases}, ui.Pair{Key: "Lease-minutes today", Value: minutes})
	}
	if b != nil && b.Note != "" {
		pairs = append(pairs, ui.Pair{Key: "Note", Value: b.Note})
	}
	return pairs
}

func (p TestStartProps) does() string {
	return "A test makes a fresh sandbox, measures it and destroys it. It may take up to " + ui.Millis(p.budget.Milliseconds()) + "."
}

func (p TestStartProps) label() string {
	if p.env.Last != nil {
		return "Test again"
	}
	return "Test"
}

func (p TestStartProps) isPicked(c environment.Company) bool {
	return p.company != nil && p.company.ID == c.ID
}
