package cli

import (
	"berth/handlers/api"

	"github.com/spf13/pflag"
)

// budgetFlags say what an environment's account may be used for.
type budgetFlags struct {
	account string
	leases  int
	minutes int
	note    string
	none    bool
}

func (b *budgetFlags) register(f *pflag.FlagSet) {
	f.StringVar(&b.account, "account", "", "whose account an environment uses, for people")
	f.IntVar(&b.leases, "max-leases", 0, "most leases at once, 0 for no limit")
	f.IntVar(&b.minutes, "lease-minutes-per-day", 0, "most minutes of all leases a day in UTC, 0 for no limit")
	f.StringVar(&b.note, "budget-note", "", "what people read before they test or run there")
}

func (b *budgetFlags) registerChange(f *pflag.FlagSet) {
	f.BoolVar(&b.none, "no-budget", false, "take the budget away")
}

// into lays what was set over the budget of a body or, where that has none, over
// the saved one: the API takes a budget as a whole.
func (b *budgetFlags) into(f *pflag.FlagSet, body map[string]any, saved *api.Budget) error {
	changes := map[string]any{}
	for flag, change := range map[string]struct {
		key   string
		value any
	}{
		"account": {"accountLabel", b.account}, "max-leases": {"maxLeases", b.leases},
		"lease-minutes-per-day": {"leaseMinutesPerDay", b.minutes}, "budget-note": {"note", b.note},
	} {
		if f.Changed(flag) {
			changes[change.key] = change.value
		}
	}
	if b.none {
		if len(changes) > 0 {
			return &usageError{"--no-budget takes the whole budget away; the other flags of it cannot be given"}
		}
		body["budget"] = nil
	}
	if len(changes) == 0 {
		return nil
	}
	budget, err := object(body, "budget")
	if err != nil {
		return err
	}
	if len(budget) == 0 && saved != nil {
		budget = map[string]any{"accountLabel": saved.AccountLabel, "maxLeases": saved.MaxLeases,
			"leaseMinutesPerDay": saved.LeaseMinutesPerDay, "note": saved.Note}
	}
	for key, value := range changes {
		budget[key] = value
	}
	body["budget"] = budget
	return nil
}

// any reports whether a flag of the budget was given.
func (b *budgetFlags) any(f *pflag.FlagSet) bool {
	return b.none || f.Changed("account") || f.Changed("max-leases") || f.Changed("lease-minutes-per-day") || f.Changed("budget-note")
}
