package catalogue

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"berth/environment"
)

// Limits of a budget.
const (
	maxAccountLabel = 120
	maxBudgetLeases = 1000
	maxMinutes      = 1_000_000
	maxBudgetNote   = 2000
)

// budget lays a patch's budget over the stored one. One that says nothing is none.
func (c *planned) budget(p environment.Patch) {
	if p.ClearBudget {
		c.next.Budget = nil
		return
	}
	if p.Budget == nil {
		return
	}
	b := *p.Budget
	b.AccountLabel, b.Note = strings.TrimSpace(b.AccountLabel), strings.TrimSpace(b.Note)
	c.text("budget.accountLabel", "An account label", b.AccountLabel, maxAccountLabel)
	c.text("budget.note", "A note", b.Note, maxBudgetNote)
	if strings.ContainsAny(b.AccountLabel, "\r\n") {
		c.problem("budget.accountLabel", "An account label is one line.")
	}
	if b.MaxLeases < 0 || b.MaxLeases > maxBudgetLeases {
		c.problem("budget.maxLeases", fmt.Sprintf("Enter 0 for no limit, or up to %d leases.", maxBudgetLeases))
	}
	if b.LeaseMinutesPerDay < 0 || b.LeaseMinutesPerDay > maxMinutes {
		c.problem("budget.leaseMinutesPerDay", "Enter 0 for no limit, or up to 1,000,000 minutes a day.")
	}
	c.next.Budget = &b
	if b == (environment.Budget{}) {
		c.next.Budget = nil
	}
}

// text notes what is wrong with a short text.
func (c *planned) text(field, what, text string, longest int) {
	switch {
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		c.problem(field, what+" cannot hold characters that cannot be shown.")
	case utf8.RuneCountInString(text) > longest:
		c.problem(field, fmt.Sprintf("%s has at most %d characters.", what, longest))
	}
}

// budgetChanges notes what of a budget an update alters.
func budgetChanges(c environment.Changes, old, next *environment.Budget) {
	was, is := budgetOf(old), budgetOf(next)
	c.Add("budget.accountLabel", was.AccountLabel, is.AccountLabel)
	c.Add("budget.maxLeases", was.MaxLeases, is.MaxLeases)
	c.Add("budget.leaseMinutesPerDay", was.LeaseMinutesPerDay, is.LeaseMinutesPerDay)
	c.Add("budget.note", was.Note, is.Note)
}

func budgetOf(b *environment.Budget) environment.Budget {
	if b == nil {
		return environment.Budget{}
	}
	return *b
}
