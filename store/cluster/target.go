package cluster

import (
	"net/url"

	"berth/environment"
)

// target is a database as libpq's programs are told of it: the password in their
// environment, as every user of a machine can read its command lines.
type target struct {
	name string // a postgres:// URL without the password
	env  []string
}

// clientKeys are the parameters of a URL that libpq knows; others are lib/pq's or
// for the server, such as a statement_timeout, which a dump must not have.
func clientKeys() []string {
	return []string{"host", "hostaddr", "port", "sslmode", "sslcert", "sslkey", "sslrootcert", "sslcrl", "connect_timeout",
		"target_session_attrs", "channel_binding", "gssencmode", "krbsrvname", "passfile", "keepalives", "keepalives_idle"}
}

func clientTarget(text string) (target, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return target{}, environment.Invalid("database_url_invalid", "The database URL cannot be read.")
	}
	t := target{}
	given, kept := u.Query(), url.Values{}
	password, has := u.User.Password()
	if has {
		u.User = url.User(u.User.Username())
	} else if password = given.Get("password"); password != "" {
		has = true
	}
	if has {
		t.env = append(t.env, "PGPASSWORD="+password)
	}
	for _, key := range clientKeys() {
		if given.Has(key) {
			kept.Set(key, given.Get(key))
		}
	}
	for key, variable := range map[string]string{"user": "PGUSER", "dbname": "PGDATABASE"} {
		if given.Has(key) {
			t.env = append(t.env, variable+"="+given.Get(key))
		}
	}
	if !kept.Has("connect_timeout") {
		kept.Set("connect_timeout", "10")
	}
	u.RawQuery = kept.Encode()
	t.name = u.String()
	return t, nil
}
