package store

import "context"

// StateCounts counts the runs, probes and leases that have not ended, by kind
// and state, and under "cleanup" the leases that wait for an operator. The conditions are those of the indexes of what is under way, so
// that the cost does not grow with history.
func (db *DB) StateCounts(ctx context.Context) (map[string]map[string]int, error) {
	var rows []struct {
		Kind  string `db:"kind"`
		State string `db:"state"`
		Count int    `db:"count"`
	}
	err := db.list(ctx, "count what is under way", &rows, `
		select 'run' as kind, status as state, count(*) as count from runs
		 where status in ('queued', 'acquiring', 'preparing', 'running', 'cancelling') group by status
		union all
		select 'probe', state, count(*) from probes where state in ('queued', 'running') group by state
		union all
		select 'lease', status, count(*) from environment_leases
		 where status in ('acquiring', 'active', 'releasing', 'retained', 'pending_cleanup') group by status
		union all
		select 'cleanup', 'dead_letter', count(*) from environment_leases where status = 'pending_cleanup' and dead_letter_at is not null`)
	if err != nil {
		return nil, err
	}
	counts := map[string]map[string]int{"run": {}, "probe": {}, "lease": {}, "cleanup": {}}
	for _, r := range rows {
		counts[r.Kind][r.State] = r.Count
	}
	return counts, nil
}
