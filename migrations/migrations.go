// Package migrations holds the database's schema as numbered steps. Steps are
// only added: one that has shipped is never edited.
package migrations

import "embed"

// Files are the steps, in goose's format.
//
//go:embed *.sql
var Files embed.FS
