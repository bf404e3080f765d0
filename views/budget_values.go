package views

import (
	"strconv"
	"strings"

	"berth/environment"
	"berth/views/ui"
)

// BudgetValues are the fields of an account and its budget, as typed.
type BudgetValues struct{ AccountLabel, MaxLeases, MinutesPerDay, Note string }

func budgetValues(b *environment.Budget) BudgetValues {
	if b == nil {
		return BudgetValues{}
	}
	v := BudgetValues{AccountLabel: b.AccountLabel, Note: b.Note}
	if b.MaxLeases > 0 {
		v.MaxLeases = strconv.Itoa(b.MaxLeases)
	}
	if b.LeaseMinutesPerDay > 0 {
		v.MinutesPerDay = strconv.Itoa(b.LeaseMinutesPerDay)
	}
	return v
}

// budget is what the values say; nil for nothing at all. What is no number has a
// problem, and counts as no limit.
func (v BudgetValues) budget() *environment.Budget {
	b := environment.Budget{AccountLabel: strings.TrimSpace(v.AccountLabel), Note: strings.TrimSpace(v.Note)}
	b.MaxLeases, _ = strconv.Atoi(strings.TrimSpace(v.MaxLeases))
	b.LeaseMinutesPerDay, _ = strconv.Atoi(strings.TrimSpace(v.MinutesPerDay))
	if b == (environment.Budget{}) {
		return nil
	}
	return &b
}

// problems are of what is no whole number.
func (v BudgetValues) problems() []environment.FieldError {
	var fields []environment.FieldError
	for name, text := range map[string]string{"budget.maxLeases": v.MaxLeases, "budget.leaseMinutesPerDay": v.MinutesPerDay} {
		text = strings.TrimSpace(text)
		if n, err := strconv.Atoi(text); text != "" && (err != nil || n < 0) {
			fields = append(fields, environment.FieldError{Field: name, Message: "Enter a whole number, or nothing for no limit."})
		}
	}
	return fields
}

// budgetLimits are the limits of a budget in words; "" for none.
func budgetLimits(b environment.Budget) string {
	var parts []string
	if b.MaxLeases > 0 {
		parts = append(parts, "at most "+ui.Count(b.MaxLeases, "lease", "leases")+" at once")
	}
	if b.LeaseMinutesPerDay > 0 {
		parts = append(parts, strconv.Itoa(b.LeaseMinutesPerDay)+" lease-minutes a day")
	}
	return strings.Join(parts, " · ")
}

// budgetLine is an account with its limits, for rows.
func budgetLine(b *environment.Budget) string {
	if b == nil {
		return ""
	}
	parts := []string{}
	for _, part := range []string{b.AccountLabel, budgetLimits(*b)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " · ")
}

// usageWords are what of a budget is used.
func usageWords(b *environment.Budget, u environment.Usage) (leases, minutes string) {
	leases = strconv.Itoa(u.ActiveLeases) + " now"
	minutes = minutesWords(u.MinutesToday)
	if b != nil && b.MaxLeases > 0 {
		leases = strconv.Itoa(u.ActiveLeases) + " of " + strconv.Itoa(b.MaxLeases)
	}
	if b != nil && b.LeaseMinutesPerDay > 0 {
		minutes += " of " + strconv.Itoa(b.LeaseMinutesPerDay)
	}
	return leases, minutes
}

// minutesWords is a number of minutes; one behind the point while it is small.
func minutesWords(m float64) string {
	if m >= 10 || m < .05 || m == float64(int(m)) {
		return strconv.Itoa(int(m))
	}
	return strconv.FormatFloat(m, 'f', 1, 64)
}

// exhaustedWords say which limit stands in the way; "" when none does.
func exhaustedWords(b *environment.Budget, u environment.Usage) string {
	if b == nil {
		return ""
	}
	switch b.Exhausted(u) {
	case "maxLeases":
		return "All " + ui.Count(b.MaxLeases, "lease", "leases") + " of this account are in use. Wait until one ends, or raise the limit."
	case "leaseMinutesPerDay":
		return "Today's " + strconv.Itoa(b.LeaseMinutesPerDay) + " lease-minutes of this account are used up. They begin anew at midnight UTC; the limit can be raised."
	}
	return ""
}
