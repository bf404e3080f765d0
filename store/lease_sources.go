package store

import (
	"context"

	"berth/environment/leasing"
)

// Sources implements leasing.Store. Environments come first, so that what is asked
// by a configuration of now is asked in its name.
func (db *DB) Sources(ctx context.Context) ([]leasing.Source, error) {
	all := []leasing.Source{}
	err := db.list(ctx, "read by which configurations something may be held", &all, `
		with used as (
			select e.id as environment_id, null::uuid as company_id, e.driver, e.config, 0 as place, e.updated_at as at
			from environments e where e.driver = 'sandbox'
			union all
			select l.environment_id, l.company_id, l.driver, l.ref -> 'config', 1, l.last_used_at
			from environment_leases l where l.driver = 'sandbox' and `+isHeld+`
			union all
			select l.environment_id, l.company_id, l.driver, l.ref -> 'config', 1, l.last_used_at
			from environment_leases l where l.driver = 'sandbox' and l.last_used_at > now() - interval '7 days')
		select distinct on (driver, config) environment_id, company_id, driver, config from used
		where config is not null and config <> 'null' order by driver, config, place, at desc`)
	return all, err
}
