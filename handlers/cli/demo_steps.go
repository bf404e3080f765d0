package cli

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"berth/environment"
	"berth/handlers/api"

	"github.com/google/uuid"
)

// demoName is the environment that the demo saves.
const demoName = "Demo target"

// script is what the demo runs: it says itself where it is.
const script = `echo "hello from $(uname -n)"
if read -r id < /proc/sys/kernel/random/boot_id; then echo "boot id $id"; fi
uname -srm
pwd`

func (d *demo) prepare(ctx context.Context) error {
	d.step("Create a company and turn environments on", "company create Demo && berth settings set --enable-environments")
	var company api.Company
	if err := d.client.call(ctx, request{method: http.MethodPost, path: "/companies", body: map[string]string{"name": "Demo"}, into: &company}); err != nil {
		return fmt.Errorf("create a company: %w", err)
	}
	d.a.flags.company = company.ID.String()
	body := map[string]bool{"enableEnvironments": true}
	if err := d.client.call(ctx, request{method: http.MethodPatch, path: "/instance/settings/experimental", body: body}); err != nil {
		return fmt.Errorf("turn environments on: %w", err)
	}
	d.line("   company %s", company.Name)
	return nil
}

func (d *demo) saveTarget(ctx context.Context) error {
	d.step("Save the target", fmt.Sprintf("env create --name %q --host %s --port %d --user %s --workspace %s --key-file KEY",
		demoName, d.target.Host, d.target.Port, d.target.User, d.target.Workspace))
	body := map[string]any{
		"name": demoName, "driver": environment.DriverSSH, "description": "A disposable SSH server inside this process.",
		"config": map[string]any{
			"host": d.target.Host, "port": d.target.Port, "username": d.target.User,
			"remoteWorkspacePath": d.target.Workspace, "privateKey": d.target.PrivateKey,
		},
	}
	var saved api.Environment
	path := "/companies/" + d.a.flags.company + "/environments"
	if err := d.client.call(ctx, request{method: http.MethodPost, path: path, body: body, into: &saved}); err != nil {
		return fmt.Errorf("save the target: %w", err)
	}
	d.environment = saved
	d.line("   saved %s, %s", saved.Name, address(saved))
	return nil
}

func (d *demo) trustKey(ctx context.Context) error {
	d.step("Look at its host keys and trust one", fmt.Sprintf("env scan-host-key %q && berth env trust-host-key %q FINGERPRINT", demoName, demoName))
	body := map[string]any{"host": d.target.Host, "port": d.target.Port}
	var keys []environment.HostKey
	if err := d.client.call(ctx, request{method: http.MethodPost, path: "/environments/scan-host-key", body: body, into: &keys}); err != nil {
		return fmt.Errorf("scan the host keys: %w", err)
	}
	if len(keys) == 0 {
		return fmt.Errorf("the target presented no host key")
	}
	for _, k := range keys {
		d.line("   presented %s %s", k.Type, k.Fingerprint)
	}
	trust := map[string]any{"fingerprint": keys[0].Fingerprint}
	if err := d.client.call(ctx, request{method: http.MethodPost, path: d.environmentPath("/trust-host-key"), body: trust}); err != nil {
		return fmt.Errorf("trust the host key: %w", err)
	}
	d.line("   key trusted: %s", keys[0].Fingerprint)
	return nil
}

func (d *demo) environmentPath(suffix string) string {
	return "/environments/" + d.environment.ID.String() + suffix
}

func (d *demo) probe(ctx context.Context) error {
	d.step("Prove in the target that it is ready", fmt.Sprintf("env probe %q", demoName))
	if err := d.a.probe(ctx, d.client, d.environmentPath("/probe"), nil); err != nil {
		return fmt.Errorf("the target is not ready: %w", err)
	}
	d.line("   probe ready")
	return nil
}

func (d *demo) runThere(ctx context.Context) error {
	d.step("Run a command there", fmt.Sprintf("run --env %q -- sh -c '…'", demoName))
	title := "Say where you are"
	body := api.StartRun{EnvironmentID: &d.environment.ID, Command: []string{"sh", "-c", script}, Title: &title}
	var started api.Run
	if err := d.client.call(ctx, request{method: http.MethodPost, path: "/companies/" + d.a.flags.company + "/runs", body: body, into: &started}); err != nil {
		return fmt.Errorf("start a run: %w", err)
	}
	d.run = started.ID
	f := &runFollower{a: d.a, c: d.client, id: started.ID, quiet: true, out: indent{d.a.env.Out}, err: indent{d.a.env.Out}}
	ended, err := f.watch(ctx)
	if err != nil {
		return fmt.Errorf("follow the run: %w", err)
	}
	if ended.Status != string(environment.RunSucceeded) {
		f.quiet = false
		f.sayHow(ended)
		return fmt.Errorf("the run %s", ended.Status)
	}
	if ended.Host != nil {
		d.line("   ran on %s (boot id %s), exit code %s", printable(ended.Host.Name), printable(ended.Host.BootID), exitText(ended))
	}
	return nil
}

func (d *demo) showPages(context.Context) error {
	d.step("See the same in a browser", "")
	d.line("   environment  %s/company/settings/instance/environments/%s", d.url, d.environment.ID)
	d.line("   run          %s/companies/%s/runs/%s", d.url, d.a.flags.company, d.run)
	d.line("   page         %s/company/settings/instance/environments", d.url)
	return nil
}

// demoMade is what the steps made, for the later ones.
type demoMade struct {
	environment api.Environment
	run         uuid.UUID
}

// indent sets each line of output off from what the demo says.
type indent struct {
	w interface{ Write([]byte) (int, error) }
}

func (i indent) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		writef(i.w, "   | %s\n", printable(strings.TrimSuffix(line, "\n")))
	}
	return len(b), nil
}
