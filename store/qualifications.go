package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"berth/environment"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

type qualificationRow struct {
	EnvironmentID   uuid.UUID                       `db:"environment_id"`
	CompanyID       uuid.UUID                       `db:"company_id"`
	Status          environment.QualificationStatus `db:"status"`
	Provider        string                          `db:"provider"`
	ProviderVersion string                          `db:"provider_version"`
	Fingerprint     string                          `db:"fingerprint"`
	TemplateID      *uuid.UUID                      `db:"template_id"`
	Image           stored                          `db:"image"`
	Platform        stored                          `db:"platform"`
	ProbeID         uuid.UUID                       `db:"probe_id"`
	LeaseID         uuid.UUID                       `db:"lease_id"`
	ProviderID      string                          `db:"provider_id"`
	Receipt         stored                          `db:"receipt"`
	MeasuredAt      time.Time                       `db:"measured_at"`
	RevokedAt       *time.Time                      `db:"revoked_at"`
	RevokedBy       string                          `db:"revoked_by"`
	RevokedFor      string                          `db:"revoked_for"`
}

func (r qualificationRow) domain() (environment.Qualification, error) {
	q := environment.Qualification{EnvironmentID: r.EnvironmentID, CompanyID: r.CompanyID, Status: r.Status, Provider: r.Provider,
		ProviderVersion: r.ProviderVersion, Fingerprint: r.Fingerprint, TemplateID: r.TemplateID, ProbeID: r.ProbeID, LeaseID: r.LeaseID,
		ProviderID: r.ProviderID, Receipt: r.Receipt.raw(), MeasuredAt: r.MeasuredAt.UTC(), RevokedAt: utc(r.RevokedAt),
		RevokedBy: r.RevokedBy, RevokedFor: r.RevokedFor}
	if err := r.Image.into(&q.Image); err != nil {
		return q, err
	}
	return q, r.Platform.into(&q.Platform)
}

// Qualification implements catalogue.Store and probing.Store.
func (db *DB) Qualification(ctx context.Context, environmentID, companyID uuid.UUID) (*environment.Qualification, error) {
	var r qualificationRow
	err := db.get(ctx, "read a qualification", &r, `select * from qualifications where environment_id = $1 and company_id = $2`, environmentID, companyID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	q, err := r.domain()
	return &q, err
}

// RevokeQualification implements running.Store.
func (db *DB) RevokeQualification(ctx context.Context, environmentID, companyID uuid.UUID, reason, by string) error {
	return db.tx(ctx, "revoke a qualification", func(tx *sqlx.Tx) error {
		revoked, err := revoke(ctx, tx, reason, by, `environment_id = $3 and company_id = $4`, environmentID, companyID)
		if err != nil || !revoked {
			return err
		}
		return bump(ctx, tx)
	})
}

// revoke marks the valid qualifications of a condition, whose arguments begin at
// $3; a marker that is there stays. It reports whether it marked any.
func revoke(ctx context.Context, tx *sqlx.Tx, reason, by, condition string, args ...any) (bool, error) {
	n, err := exec(ctx, tx, `
		update qualifications set status = 'revoked', revoked_at = now(), revoked_for = $1, revoked_by = $2
		where status = 'valid' and `+condition, append([]any{reason, clean(by)}, args...)...)
	return n > 0, err
}

// revokeForSecret marks what is recorded of environments whose config refers to a
// secret: only those that refer to version, unless that is "".
func revokeForSecret(ctx context.Context, tx *sqlx.Tx, secret uuid.UUID, version, by string) error {
	revoked, err := revoke(ctx, tx, environment.RevokedAccount, by, `environment_id in (
		select b.environment_id from secret_bindings b
		where b.secret_id = $3 and starts_with(b.config_path, 'config.') and ($4 = '' or b.version = $4)
		union
		select e.id from environments e join secrets s on s.environment_id = e.id
		where s.id = $3 and strpos(e.config::text, s.id::text) > 0)`, secret, version)
	if err != nil || !revoked {
		return err
	}
	return bump(ctx, tx)
}

// qualify does what the end of a saved environment's probe does to what is
// recorded for its company, and says so in the probe. The environment's row is
// locked: no write of its config comes in between.
func qualify(ctx context.Context, tx *sqlx.Tx, p *environment.Probe, change environment.QualificationChange, by string) error {
	if !saved(*p) || p.State != environment.ProbeDone || p.CompanyID == nil {
		return nil
	}
	if change == (environment.QualificationChange{}) {
		return nil
	}
	var same bool
	err := tx.GetContext(ctx, &same, `select config_revision = $2 and status = 'active' from environments where id = $1 for no key update`,
		*p.EnvironmentID, p.ConfigRevision)
	if err != nil {
		return missing(err, "environment")
	}
	if change.Revoke != "" {
		if _, err := revoke(ctx, tx, change.Revoke, by, `environment_id = $3 and company_id = $4`, *p.EnvironmentID, *p.CompanyID); err != nil {
			return err
		}
	}
	if change.Record == nil {
		return nil
	}
	if !same {
		p.Qualification = environment.ConfigChangedDuringProbe()
		return nil
	}
	return insertQualification(ctx, tx, *p, *change.Record)
}

// insertQualification records what a probe proved in the place of what was there.
func insertQualification(ctx context.Context, tx *sqlx.Tx, p environment.Probe, q environment.Qualification) error {
	_, err := exec(ctx, tx, `
		insert into qualifications (environment_id, company_id, status, provider, provider_version, fingerprint, template_id, image, platform,
			probe_id, lease_id, provider_id, receipt, measured_at)
		values ($1, $2, 'valid', $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce($12, 'null'::jsonb), coalesce($13, now()))
		on conflict (environment_id, company_id) do update set status = excluded.status, provider = excluded.provider,
			provider_version = excluded.provider_version, fingerprint = excluded.fingerprint, template_id = excluded.template_id,
			image = excluded.image, platform = excluded.platform, probe_id = excluded.probe_id, lease_id = excluded.lease_id,
			provider_id = excluded.provider_id, receipt = excluded.receipt, measured_at = excluded.measured_at,
			revoked_at = null, revoked_by = '', revoked_for = ''`,
		*p.EnvironmentID, *p.CompanyID, clean(q.Provider), clean(q.ProviderVersion), clean(q.Fingerprint), q.TemplateID, document{q.Image},
		document{q.Platform}, p.ID, q.LeaseID, clean(q.ProviderID), document{q.Receipt}, orNow(q.MeasuredAt))
	return err
}
