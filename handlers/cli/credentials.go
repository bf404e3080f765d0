package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
)

// credential is what `berth login` keeps of one server.
type credential struct {
	Token string    `json:"token"`
	KeyID uuid.UUID `json:"keyId"`
	Email string    `json:"email"`
}

// credentials is the file of tokens, by the address of the server. Only its
// owner may read it.
type credentials struct {
	path string
	all  map[string]credential
}

// credentialsPath is where tokens are kept: "" when there is no home.
func (a *app) credentialsPath() string {
	if path := a.getenv("BERTH_CREDENTIALS", ""); path != "" {
		return path
	}
	base := a.getenv("XDG_CONFIG_HOME", "")
	if base == "" {
		home := a.getenv("HOME", "")
		if home == "" {
			return ""
		}
		base = filepath.Join(home, ".config")
	}
	return filepath.Join(base, "berth", "credentials.json")
}

// credentials reads the file; one that is not there is empty. A file that others
// may read is refused: the tokens in it may be known already.
func (a *app) credentials() (*credentials, error) {
	c := &credentials{path: a.credentialsPath(), all: map[string]credential{}}
	if c.path == "" {
		return c, nil
	}
	info, err := os.Stat(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at the stored tokens: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, &usageError{fmt.Sprintf("%s may be read or written by others (mode %04o): chmod 600 it, and log in anew if others could have read it", c.path, mode)}
	}
	text, err := os.ReadFile(c.path)
	if err != nil {
		return nil, fmt.Errorf("read the stored tokens: %w", err)
	}
	if err := json.Unmarshal(text, &c.all); err != nil {
		return nil, &usageError{c.path + " is not what berth login writes: remove it and log in again"}
	}
	return c, nil
}

// save writes the file, whole or not at all.
func (c *credentials) save() (err error) {
	if c.path == "" {
		return errors.New("there is no home folder to keep a token in: set BERTH_CREDENTIALS")
	}
	dir := filepath.Dir(c.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of stored tokens: %w", err)
	}
	text, err := json.MarshalIndent(c.all, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "credentials-") // 0600
	if err != nil {
		return fmt.Errorf("write the stored tokens: %w", err)
	}
	_, werr := f.Write(append(text, '\n'))
	if err := errors.Join(werr, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("write the stored tokens: %w", err), os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), c.path)
}

// without is a copy of the file's content without one server.
func (c *credentials) without(base string) *credentials {
	rest := maps.Clone(c.all)
	delete(rest, base)
	return &credentials{path: c.path, all: rest}
}

// base is the address of the server without what paths add to it.
func (a *app) base() string {
	return strings.TrimSuffix(strings.TrimRight(a.flags.apiBase, "/"), "/api")
}

// key is the bearer text for the server: the flag's, the variable's, else what
// login has stored for that address.
func (a *app) key() (string, error) {
	if a.flags.apiKey != "" {
		return a.flags.apiKey, nil
	}
	if key := a.getenv("BERTH_API_KEY", ""); key != "" {
		return key, nil
	}
	stored, err := a.credentials()
	if err != nil {
		return "", err
	}
	return stored.all[a.base()].Token, nil
}
