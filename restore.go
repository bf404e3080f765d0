package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"

	"berth/environment"
	"berth/handlers/cli"
	"berth/store"
	"berth/store/cluster"
)

// restore reads a backup into an empty data folder or database. What stands in the
// way is found before anything is written; what fails later leaves it empty.
func restore(ctx context.Context, o cli.ServeOptions, file string) (b cli.Backup, err error) {
	log := newLog(o)
	dir, err := dataDir(o)
	if err != nil {
		return b, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return b, environment.NewError(environment.KindNotFound, "backup_not_found", "There is no readable file "+file+".").Because(err)
	}
	clients, err := cluster.FindClients(ctx, o.Getenv, 1)
	if err != nil {
		return b, err
	}
	held, err := readBackup(ctx, clients, file)
	if err != nil {
		return b, err
	}
	b = cli.Backup{File: file, Bytes: info.Size(), Keyset: keysetPath(o, dir), Fingerprint: held.fingerprint}
	if err := mayRestore(held, b.Keyset); err != nil {
		return b, err
	}
	if o.DatabaseURL != "" {
		b.Environments, b.Schema, err = load(ctx, o, o.DatabaseURL, file, log)
		return b, err
	}
	if err := cluster.ForThisUser(dir); err != nil {
		return b, err
	}
	lock, err := cluster.LockDataDir(dir)
	if err != nil {
		return b, err
	}
	has, err := cluster.HasData(dir)
	if err == nil && has {
		err = notEmpty("There is a database in "+dir+" already.", "Move it away, or give another folder with --data-dir.")
	}
	if err != nil {
		return b, errors.Join(err, lock.Close())
	}
	c, err := cluster.Start(ctx, dir, log)
	if err != nil {
		return b, errors.Join(err, lock.Close())
	}
	b.Environments, b.Schema, err = load(ctx, o, c.URL(), file, log)
	if err != nil {
		// Nobody else knows of this cluster yet: the next attempt begins anew.
		return b, errors.Join(err, discard(c, lock, dir))
	}
	return b, stopCluster(c, lock)
}

// discard stops a cluster and deletes it.
func discard(c *cluster.Cluster, lock *cluster.Lock, dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), databaseTime)
	defer cancel()
	return errors.Join(c.Stop(ctx), cluster.Remove(dir), lock.Close())
}

func notEmpty(message, remedy string) error {
	return environment.Conflict("restore_not_empty", message+" A backup is restored into an empty place only.").Remedy(remedy)
}

// contents is what a backup says of itself.
type contents struct {
	schema       int64
	fingerprint  string // of the keyset; "": none was bound
	environments int
}

// readBackup looks into a file with the first of the clients that can read it.
func readBackup(ctx context.Context, clients []cluster.Clients, file string) (contents, error) {
	var rows map[string][]map[string]string
	var err error
	for _, c := range clients {
		if rows, err = c.Rows(ctx, file, "instance", "goose_db_version", "environments"); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return contents{}, err
	}
	if len(rows["instance"]) != 1 {
		return contents{}, environment.Invalid("backup_unreadable", "The file "+file+" is a dump of something else than Berth.")
	}
	held := contents{fingerprint: rows["instance"][0]["keyset_fingerprint"], environments: len(rows["environments"])}
	for _, step := range rows["goose_db_version"] {
		n, err := strconv.ParseInt(step["version_id"], 10, 64)
		if err != nil {
			return contents{}, fmt.Errorf("read the schema's version in the backup: %w", err)
		}
		held.schema = max(held.schema, n)
	}
	return held, nil
}

// mayRestore refuses what this program does not know, and what the keyset does not
// open.
func mayRestore(held contents, keyset string) error {
	latest, err := store.LatestSchema()
	if err != nil {
		return err
	}
	if held.schema > latest {
		return environment.Conflict("backup_newer", fmt.Sprintf("The backup's schema is %d; this Berth knows up to %d.", held.schema, latest)).
			Remedy("Restore it with the version of Berth that made it, or a newer one.")
	}
	if held.fingerprint == "" {
		return nil
	}
	return keysetFits(keyset, held.fingerprint)
}

// load reads the file into the database of a URL, which must be empty, brings the
// schema up to date, and returns how many environments there are and the schema's
// version.
func load(ctx context.Context, o cli.ServeOptions, url, file string, log *slog.Logger) (environments int, schema int64, err error) {
	db, err := store.Open(ctx, url, log)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	empty, err := db.Empty(ctx)
	if err == nil && !empty {
		err = notEmpty("The database holds something already.", "Make a new database, and give its URL.")
	}
	if err != nil {
		return 0, 0, err
	}
	major, err := db.ServerMajor(ctx)
	if err != nil {
		return 0, 0, err
	}
	clients, err := cluster.FindClients(ctx, o.Getenv, major)
	if err != nil {
		return 0, 0, err
	}
	for _, c := range clients {
		if err = c.Load(ctx, url, file); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return 0, 0, fmt.Errorf("restore the backup: %w", err)
	}
	if err := db.Migrate(ctx); err != nil {
		return 0, 0, err
	}
	system := environment.System()
	environments, err = db.Restored(ctx, environment.Activity{ActorKind: system.Kind, ActorName: system.Name, Action: "instance.restored",
		EntityType: "instance", EntityID: "instance", Details: map[string]any{}})
	if err != nil {
		return 0, 0, err
	}
	schema, err = db.SchemaVersion(ctx)
	return environments, schema, err
}
