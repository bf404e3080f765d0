package cli_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"berth/environment"
	"berth/handlers/cli"
)

func TestBackupSaysWhatToKeep(t *testing.T) {
	made := cli.Backup{File: "b", Bytes: 12, Schema: 5, Environments: 3, Keyset: "/data/keyset.json", Fingerprint: "ab12"}
	unbound, strange := made, made
	unbound.Fingerprint, strange.KeysetMissing = "", true
	for _, tt := range []struct {
		name string
		args []string
		made cli.Backup
		err  error
		code int
		says string
	}{
		{"done", []string{"backup", "b"}, made, nil, 0, "Keep /data/keyset.json as well, and apart"},
		{"as JSON", []string{"backup", "b", "--json"}, made, nil, 0, `"keysetFingerprint": "ab12"`},
		{"without secrets", []string{"backup", "b"}, unbound, nil, 0, "holds no stored secret"},
		{"with another keyset here", []string{"backup", "b"}, strange, nil, 0, "/data/keyset.json is not the one"},
		{"restored", []string{"restore", "b"}, made, nil, 0, "3 environments"},
		{"no file named", []string{"backup"}, made, nil, 2, "FILE"},
		{"refused", []string{"restore", "b"}, made, environment.Conflict("restore_not_empty", "There is a database.").Remedy("Move it away."), 5, "Move it away."},
		{"nothing there", []string{"backup", "b"}, made, environment.NewError(environment.KindNotFound, "nothing_to_back_up", "Nothing."), 3, "Nothing."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			hook := func(_ context.Context, _ cli.ServeOptions, file string) (cli.Backup, error) {
				if file != "b" {
					t.Errorf("file: got %q, want b", file)
				}
				return tt.made, tt.err
			}
			env := cli.Env{Args: tt.args, Getenv: func(string) string { return "" }, In: strings.NewReader(""), Out: &out, Err: &out}
			code := cli.Execute(t.Context(), env, cli.Hooks{Backup: hook, Restore: hook})
			if code != tt.code || !strings.Contains(out.String(), tt.says) {
				t.Errorf("got exit code %d, want %d:\n%s\nwant %q", code, tt.code, out.String(), tt.says)
			}
		})
	}
}
