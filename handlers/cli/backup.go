package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"
)

// Backup is a database's backup, made or restored.
type Backup struct {
	File         string `json:"file"`
	Bytes        int64  `json:"bytes"`
	Schema       int64  `json:"schema"` // number of its newest migration
	Environments int    `json:"environments"`
	// Keyset is the file of the keys without which no stored secret opens, and
	// Fingerprint the name of the one that sealed them; "" when none is stored.
	Keyset      string `json:"keyset"`
	Fingerprint string `json:"keysetFingerprint"`
	// KeysetMissing says that the file does not hold that key.
	KeysetMissing bool `json:"keysetMissing"`
}

func (a *app) backupCommand() *cobra.Command {
	return a.fileCommand("backup FILE", "Write the whole database to a file, while the server runs or not",
		`Writes the whole database to a new file, as it is at one moment; a server that
runs is not disturbed. The file holds no secret in clear: stored secrets are
sealed with the keyset, which is a file of its own and is not in the backup. Keep
the two apart, and both.`,
		func() fileHook { return a.hooks.Backup }, printBackup)
}

func (a *app) restoreCommand() *cobra.Command {
	return a.fileCommand("restore FILE", "Read a backup into an empty data folder or database",
		`Reads a backup into a data folder without a database, or into the empty database
of --database-url, and brings its schema up to date. The keyset that the backup's
secrets were sealed with has to be in its place before. Everybody signs in again.`,
		func() fileHook { return a.hooks.Restore }, printRestored)
}

type fileHook = func(ctx context.Context, o ServeOptions, file string) (Backup, error)

// fileCommand is a command of the server that works on one file.
func (a *app) fileCommand(use, short, long string, hook func() fileHook, people func(io.Writer, Backup)) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: exactly("FILE")}
	options := a.serverFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o, err := options()
		if err != nil {
			return err
		}
		ctx, stop := untilStopped(cmd.Context())
		defer stop()
		b, err := hook()(ctx, o, args[0])
		if err != nil {
			return err
		}
		return a.show(b, func(w io.Writer) { people(w, b) })
	}
	return cmd
}

func printBackup(w io.Writer, b Backup) {
	writef(w, "Backed up to %s: %d bytes, %d environments, schema %d.\n", b.File, b.Bytes, b.Environments, b.Schema)
	switch {
	case b.Fingerprint == "":
		writef(w, "No keyset is bound to it: it holds no stored secret.\n")
	case b.KeysetMissing:
		writef(w, "The keyset is not in it, and %s is not the one: the secrets were sealed with the keyset %s.\n", b.Keyset, b.Fingerprint)
	default:
		writef(w, "The keyset is not in it. Keep %s as well, and apart: without it no stored secret opens,\nwith both of them every one does. Its fingerprint is %s.\n",
			b.Keyset, b.Fingerprint)
	}
}

func printRestored(w io.Writer, b Backup) {
	writef(w, "Restored from %s: %d environments, schema %d. Everybody signs in again.\n", b.File, b.Environments, b.Schema)
	if b.Fingerprint != "" {
		writef(w, "The keyset %s fits it (%s).\n", b.Keyset, b.Fingerprint)
	}
	writef(w, "Keys and tokens that were revoked after the backup was made count again: look through them.\n")
}
