package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"berth/environment"
	"berth/handlers/cli"
	"berth/store"
	"berth/store/cluster"
	"berth/store/vault"
)

// backup writes the database to a new file, while a server runs on it or not.
func backup(ctx context.Context, o cli.ServeOptions, file string) (b cli.Backup, err error) {
	log := newLog(o)
	dir, err := dataDir(o)
	if err != nil {
		return b, err
	}
	if _, err := os.Lstat(file); err == nil {
		return b, backupExists(file)
	}
	url, done, err := reachDatabase(ctx, o, dir, log)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, done()) }()
	db, err := store.Open(ctx, url, log)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	empty, err := db.Empty(ctx)
	if err == nil && empty {
		err = nothingToBackUp("The database is empty.")
	}
	if err != nil {
		return b, err
	}
	major, err := db.ServerMajor(ctx)
	if err != nil {
		return b, err
	}
	clients, err := cluster.FindClients(ctx, o.Getenv, major)
	if err != nil {
		return b, err
	}
	b.Bytes, err = writeNew(file, func(out *os.File) error { return clients[0].Dump(ctx, url, out, store.Transient()...) })
	if err != nil {
		return b, fmt.Errorf("write the backup: %w", err)
	}
	held, err := readBackup(ctx, clients[:1], file)
	if err != nil {
		return b, err
	}
	b.File, b.Schema, b.Environments, b.Fingerprint = file, held.schema, held.environments, held.fingerprint
	b.Keyset = keysetPath(o, dir)
	b.KeysetMissing = b.Fingerprint != "" && keysetFits(b.Keyset, b.Fingerprint) != nil
	return b, nil
}

// reachDatabase returns the URL of the database and what to do when it is needed
// no more. The private one runs already, for the server on the data folder, or is
// started for as long.
func reachDatabase(ctx context.Context, o cli.ServeOptions, dir string, log *slog.Logger) (url string, done func() error, err error) {
	if o.DatabaseURL != "" {
		return o.DatabaseURL, func() error { return nil }, nil
	}
	has, err := cluster.HasData(dir)
	if err == nil && !has {
		err = nothingToBackUp("There is no database in " + dir + ".")
	}
	if err != nil {
		return "", nil, err
	}
	if url, ok, err := cluster.Running(ctx, dir); err != nil || ok {
		return url, func() error { return nil }, err
	}
	if err := cluster.ForThisUser(dir); err != nil {
		return "", nil, err
	}
	lock, err := cluster.LockDataDir(dir)
	if environment.CodeOf(err) == "data_dir_in_use" {
		err = environment.Unavailable("database_unavailable", "A server is starting or stopping on "+dir+".").Remedy("Try again in a moment.")
	}
	if err != nil {
		return "", nil, err
	}
	c, err := cluster.Start(ctx, dir, log)
	if err != nil {
		return "", nil, errors.Join(err, lock.Close())
	}
	return c.URL(), func() error { return stopCluster(c, lock) }, nil
}

func stopCluster(c *cluster.Cluster, lock *cluster.Lock) error {
	ctx, cancel := context.WithTimeout(context.Background(), databaseTime)
	defer cancel()
	return errors.Join(c.Stop(ctx), lock.Close())
}

func nothingToBackUp(message string) error {
	return environment.NewError(environment.KindNotFound, "nothing_to_back_up", message).
		Remedy("Name the server's data folder with --data-dir, or its database with DATABASE_URL.")
}

func backupExists(file string) error {
	return environment.Conflict("backup_exists", "The file "+file+" is there already.").
		Remedy("Give another name: a backup never takes another's place.")
}

// writeNew writes a file that must not be there yet, for its owner only. It is
// there whole or not at all.
func writeNew(file string, write func(*os.File) error) (size int64, err error) {
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-") // 0600
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	werr := write(f)
	info, serr := f.Stat()
	if err := errors.Join(werr, serr, f.Sync(), f.Close()); err != nil {
		return 0, err
	}
	if err := os.Link(f.Name(), file); errors.Is(err, fs.ErrExist) {
		return 0, backupExists(file)
	} else if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// keysetFits tells, as an error, why the keyset of a file does not open what was
// sealed with the key of a fingerprint.
func keysetFits(path, fingerprint string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return environment.Conflict("keyset_missing", "The secrets in the backup were sealed with the keyset "+fingerprint+", and there is none at "+path+".").
			Remedy("Put the keyset file that belongs to the backup there, or name it with --keyset.")
	}
	v, err := vault.Open(path)
	if err != nil {
		return err
	}
	if !slices.Contains(v.Fingerprints(), fingerprint) {
		return environment.Conflict("keyset_mismatch", "The secrets in the backup were sealed with another keyset than "+path+".").
			Remedy("Put the keyset file that belongs to the backup there, or name it with --keyset. Its fingerprint is " + fingerprint +
				", this one's is " + v.Fingerprint() + ".")
	}
	return nil
}
