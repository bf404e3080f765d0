// Package static embeds what a browser loads: the style sheet, the scripts and
// the mark. Each file is served under a name with its hash, so that it can be
// cached for ever.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed app.css app.js live.js icon.svg vendor/*.js
var embedded embed.FS

// Prefix is where the files are served.
const Prefix = "/static/"

// files are the embedded files, and the hashed name of each.
type files struct {
	hashed map[string]string // "app.css" to "app.1f2e3d4c5b6a7988.css"
	data   map[string][]byte // by hashed name
}

// live.js is served at the end of app.js, in one request: a page has six.
const script, appended = "app.js", "live.js"

var load = sync.OnceValue(func() files {
	f := files{hashed: map[string]string{}, data: map[string][]byte{}}
	err := fs.WalkDir(embedded, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == appended {
			return err
		}
		data, err := embedded.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		if name == script {
			more, err := embedded.ReadFile(appended)
			if err != nil {
				return fmt.Errorf("read %s: %w", appended, err)
			}
			data = slices.Concat(data, []byte(";\n"), more) // neither ends with a semicolon
		}
		hashed := withHash(path.Base(name), data)
		f.hashed[path.Base(name)] = hashed
		f.data[hashed] = data
		return nil
	})
	if err != nil {
		panic(fmt.Sprintf("static: %v", err)) // an embedded file that cannot be read is a broken build
	}
	return f
})

// URL returns the hashed URL of a file by its plain name. It panics for a name
// that is not embedded.
func URL(name string) string {
	hashed, ok := load().hashed[name]
	if !ok {
		panic("static: no file " + name)
	}
	return Prefix + hashed
}

// File returns the file of a hashed name.
func File(hashed string) ([]byte, bool) {
	data, ok := load().data[hashed]
	return data, ok
}

// Names returns the plain names of all files, sorted.
func Names() []string { return slices.Sorted(maps.Keys(load().hashed)) }

func withHash(name string, data []byte) string {
	sum := sha256.Sum256(data)
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:8]) + ext
}
