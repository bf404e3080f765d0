package store

import (
	"context"

	"berth/environment"
	"berth/environment/identity"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

const personColumns = `p.id, p.email, p.name, p.instance_admin, p.disabled_at, p.last_seen_at, p.created_at, p.updated_at`

type personRow struct {
	environment.Person
	RolesDoc stored `db:"roles"`
	Hash     string `db:"password_hash"`
	Key      string `db:"name_key"`
}

func (r personRow) domain() (environment.Person, error) {
	p := r.Person
	p.CreatedAt, p.UpdatedAt, p.DisabledAt, p.LastSeenAt = p.CreatedAt.UTC(), p.UpdatedAt.UTC(), utc(p.DisabledAt), utc(p.LastSeenAt)
	p.Roles = map[uuid.UUID]environment.Role{}
	return p, r.RolesDoc.into(&p.Roles)
}

// wholePerson reads people with all their roles.
var wholePerson = `select ` + personColumns + `, p.name_key, ` + rolesOf("p.id") + ` as roles from people p`

// PersonByEmail implements identity.Store.
func (db *DB) PersonByEmail(ctx context.Context, email string) (environment.Person, string, error) {
	var r personRow
	err := db.get(ctx, "find a person", &r, `
		select `+personColumns+`, p.password_hash, `+rolesOf("p.id")+` as roles from people p where p.email_key = $1`,
		environment.NameKey(clean(email)))
	if err != nil {
		return environment.Person{}, "", missing(err, "person")
	}
	p, err := r.domain()
	return p, r.Hash, err
}

// Person implements identity.Store.
func (db *DB) Person(ctx context.Context, id uuid.UUID) (environment.Person, error) {
	var r personRow
	if err := db.get(ctx, "read a person", &r, wholePerson+` where p.id = $1`, id); err != nil {
		return environment.Person{}, missing(err, "person")
	}
	return r.domain()
}

// personIn reads a person within a transaction.
func personIn(ctx context.Context, tx *sqlx.Tx, id uuid.UUID) (environment.Person, error) {
	var r personRow
	if err := tx.GetContext(ctx, &r, wholePerson+` where p.id = $1`, id); err != nil {
		return environment.Person{}, missing(err, "person")
	}
	return r.domain()
}

// People implements identity.Store.
func (db *DB) People(ctx context.Context, search string, limit int, after string) (environment.Page[environment.Person], error) {
	page := environment.Page[environment.Person]{}
	c, err := readCursor(after, "people", 1)
	if err != nil {
		return page, err
	}
	var q query
	q.add(wholePerson)
	if text := environment.NameKey(clean(search)); text != "" {
		q.where("(strpos(p.name_key, ", q.arg(text), ") > 0 or strpos(p.email_key, ", q.arg(text), ") > 0)")
	}
	if c != nil {
		q.where("(p.name_key, p.id) > (", q.arg(clean(c.Keys[0])), `::text collate "C", `, q.arg(c.ID), "::uuid)")
	}
	size := pageSize(limit)
	q.add(" order by p.name_key, p.id limit ", q.arg(size+1))
	var rows []personRow
	if err := db.page(ctx, "list people", &rows, &q, c); err != nil {
		return page, err
	}
	if len(rows) > size {
		rows = rows[:size]
		page.Next = cursor{Order: "people", Keys: []string{rows[size-1].Key}, ID: rows[size-1].ID}.String()
	}
	page.Items, err = domains[environment.Person](rows)
	return page, err
}

// Members implements identity.Store. Each has the role in this company only: what
// somebody is elsewhere is not this company's to know.
func (db *DB) Members(ctx context.Context, company uuid.UUID) ([]environment.Person, error) {
	var rows []personRow
	err := db.list(ctx, "list members", &rows, `
		select `+personColumns+`, jsonb_build_object(m.company_id, m.role) as roles
		from memberships m join people p on p.id = m.person_id
		where m.company_id = $1 order by p.name_key, p.id`, company)
	if err != nil {
		return nil, err
	}
	return domains[environment.Person](rows)
}

// SetRole implements identity.Store.
func (db *DB) SetRole(ctx context.Context, person, company uuid.UUID, role environment.Role, a environment.Activity) error {
	return db.tx(ctx, "set a role", func(tx *sqlx.Tx) error {
		// The person's row is held, so that two changes come one after the other.
		n, err := exec(ctx, tx, `select 1 from people where id = $1 for no key update`, person)
		if err == nil && n == 0 {
			err = environment.NotFound("person")
		}
		if err != nil {
			return err
		}
		if n, err = exec(ctx, tx, `select 1 from companies where id = $1`, company); err == nil && n == 0 {
			err = environment.NotFound("company")
		}
		if err != nil {
			return err
		}
		if role == "" {
			_, err = exec(ctx, tx, `delete from memberships where person_id = $1 and company_id = $2`, person, company)
		} else {
			_, err = exec(ctx, tx, `
				insert into memberships (person_id, company_id, role) values ($1, $2, $3)
				on conflict (person_id, company_id) do update set role = excluded.role`, person, company, string(role))
		}
		if err != nil {
			return err
		}
		if err := wakePerson(ctx, tx, person); err != nil {
			return err
		}
		return record(ctx, tx, a)
	})
}

// HasAdmin implements identity.Store.
func (db *DB) HasAdmin(ctx context.Context) (bool, error) {
	var has bool
	err := db.get(ctx, "look for an instance admin", &has, `select `+adminBut("'00000000-0000-0000-0000-000000000000'"))
	return has, err
}

// adminBut is a condition: somebody else than id is an instance admin who may
// sign in.
func adminBut(id string) string {
	return `exists (select 1 from people where instance_admin and disabled_at is null and id <> ` + id + `)`
}

// adminLock is the advisory lock under which the last admin is not taken away and
// the first one is made.
const adminLock = 0x6265727461646d // "bertadm"

// holdAdmins makes changes of who is admin come one after the other until tx ends.
func holdAdmins(ctx context.Context, tx *sqlx.Tx) error {
	_, err := exec(ctx, tx, `select pg_advisory_xact_lock($1)`, int64(adminLock))
	return err
}

// Record implements identity.Store.
func (db *DB) Record(ctx context.Context, a environment.Activity) error {
	return db.tx(ctx, "record activity", func(tx *sqlx.Tx) error { return record(ctx, tx, a) })
}

var _ identity.Store = (*DB)(nil)
