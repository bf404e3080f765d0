package running_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/running"

	"github.com/google/uuid"
)

func TestStart_fields(t *testing.T) {
	many := func(n int) []string { return slices.Repeat([]string{"x"}, n) }
	vars := func(n int) map[string]string {
		m := map[string]string{}
		for i := range n {
			m[fmt.Sprintf("V%d", i)] = "v"
		}
		return m
	}
	tests := map[string]struct {
		change func(*running.Input)
		field  string // "": it is fine
	}{
		"no command":               {func(in *running.Input) { in.Command = nil }, "command"},
		"empty program":            {func(in *running.Input) { in.Command = []string{"", "x"} }, "command"},
		"empty argument":           {func(in *running.Input) { in.Command = []string{"x", ""} }, ""},
		"NUL in an argument":       {func(in *running.Input) { in.Command = []string{"x", "a\x00b"} }, "command"},
		"no UTF-8 in an argument":  {func(in *running.Input) { in.Command = []string{"x", "\xff"} }, "command"},
		"1000 arguments":           {func(in *running.Input) { in.Command = many(1000) }, ""},
		"1001 arguments":           {func(in *running.Input) { in.Command = many(1001) }, "command"},
		"128 KiB of command":       {func(in *running.Input) { in.Command = []string{strings.Repeat("x", 128<<10-1)} }, ""},
		"128 KiB and one":          {func(in *running.Input) { in.Command = []string{strings.Repeat("x", 128<<10)} }, "command"},
		"NUL in the folder":        {func(in *running.Input) { in.Cwd = new("a\x00") }, "cwd"},
		"folder of 4096":           {func(in *running.Input) { in.Cwd = new(strings.Repeat("d", 4096)) }, ""},
		"folder of 4097":           {func(in *running.Input) { in.Cwd = new(strings.Repeat("d", 4097)) }, "cwd"},
		"blank title":              {func(in *running.Input) { in.Title = new("  ") }, ""},
		"title of 120":             {func(in *running.Input) { in.Title = new(strings.Repeat("é", 120)) }, ""},
		"title of 121":             {func(in *running.Input) { in.Title = new(strings.Repeat("é", 121)) }, "title"},
		"bad variable name":        {func(in *running.Input) { in.Env = map[string]string{"BAD-NAME": "x"} }, "env.BAD-NAME"},
		"name of Berth's own":      {func(in *running.Input) { in.Env = map[string]string{"BERTH_RUN_ID": "x"} }, "env.BERTH_RUN_ID"},
		"NUL in a value":           {func(in *running.Input) { in.Env = map[string]string{"A": "\x00"} }, "env.A"},
		"value of 64 KiB":          {func(in *running.Input) { in.Env = map[string]string{"A": strings.Repeat("v", 64<<10)} }, ""},
		"value of 64 KiB and one":  {func(in *running.Input) { in.Env = map[string]string{"A": strings.Repeat("v", 64<<10+1)} }, "env.A"},
		"200 variables":            {func(in *running.Input) { in.Env = vars(200) }, ""},
		"201 variables":            {func(in *running.Input) { in.Env = vars(201) }, "env"},
		"input of 512 KiB":         {func(in *running.Input) { in.Stdin = make([]byte, 512<<10) }, ""},
		"input of 512 KiB and one": {func(in *running.Input) { in.Stdin = make([]byte, 512<<10+1) }, "stdin"},
		"timeout 0":                {func(in *running.Input) { in.TimeoutSec = new(0) }, "timeoutSec"},
		"timeout 1":                {func(in *running.Input) { in.TimeoutSec = new(1) }, ""},
		"timeout at the cap":       {func(in *running.Input) { in.TimeoutSec = new(3600) }, ""},
		"timeout past the cap":     {func(in *running.Input) { in.TimeoutSec = new(3601) }, "timeoutSec"},
	}
	inBubble(t, newTarget(exit(0, 0)), func(t *testing.T, b *bed) {
		limit := 3600
		if _, err := b.store.UpdateSettings(context.Background(), environment.SettingsPatch{MaxRunTimeout: &limit}, environment.Activity{}); err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(tests)) {
			test := tests[name]
			in := b.input("x")
			test.change(&in)
			r, err := b.server.Start(context.Background(), operator, in)
			var fields []string
			if err != nil {
				for _, f := range environment.AsError(err).Fields {
					fields = append(fields, f.Field)
				}
			}
			switch {
			case test.field == "" && err != nil:
				t.Errorf("%s: refused with %v", name, err)
			case test.field == "":
				b.end(r.ID)
			case environment.KindOf(err) != environment.KindInvalid || !slices.Equal(fields, []string{test.field}):
				t.Errorf("%s: got %v at %v, want it refused at %s", name, err, fields, test.field)
			}
		}
		bad := b.input()
		bad.TimeoutSec, bad.Cwd = new(-1), new("\x00")
		_, err := b.server.Start(context.Background(), operator, bad)
		if got := len(environment.AsError(err).Fields); got != 3 {
			t.Errorf("%d errors told, want all three", got)
		}
	})
}

func TestStart_refusals(t *testing.T) {
	inBubble(t, newTarget(exit(0, 0)), func(t *testing.T, b *bed) {
		id := func(driver, name string, status environment.Status) *uuid.UUID {
			env := b.newEnv(driver, name, status)
			return &env.ID
		}
		missing := environment.NewID()
		tests := map[string]struct {
			actor   environment.Actor
			company uuid.UUID
			env     *uuid.UUID
			kind    environment.Kind
			code    string
		}{
			"nobody":         {environment.Actor{}, b.company, &b.env.ID, environment.KindUnauthenticated, "unauthenticated"},
			"no company":     {operator, missing, &b.env.ID, environment.KindNotFound, "company_not_found"},
			"no environment": {operator, b.company, nil, environment.KindInvalid, environment.CodeEnvironmentRequired},
			"unknown one":    {operator, b.company, &missing, environment.KindInvalid, environment.CodeEnvironmentNotFound},
			"archived":       {operator, b.company, id("ssh", "a", environment.StatusArchived), environment.KindConflict, environment.CodeEnvironmentInactive},
			"in maintenance": {operator, b.company, id("ssh", "m", environment.StatusMaintenance), environment.KindConflict, environment.CodeEnvironmentMaintenance},
			"not installed":  {operator, b.company, id("gone", "g", environment.StatusActive), environment.KindUnavailable, environment.CodeProviderUnavailable},
			"cannot run":     {operator, b.company, id("mute", "n", environment.StatusActive), environment.KindUnsupported, "unsupported"},
		}
		for name, test := range tests {
			_, err := b.server.Start(context.Background(), test.actor, running.Input{CompanyID: test.company, EnvironmentID: test.env, Command: []string{"x"}})
			if environment.KindOf(err) != test.kind || environment.CodeOf(err) != test.code {
				t.Errorf("%s: got %v (%s), want %s", name, err, environment.CodeOf(err), test.code)
			}
		}
		only, local := true, id("local", "Local", environment.StatusActive)
		if _, err := b.store.UpdateSettings(context.Background(), environment.SettingsPatch{EnableManagedSandboxOnly: &only}, environment.Activity{}); err != nil {
			t.Fatal(err)
		}
		in := b.input("x")
		in.EnvironmentID = local
		if _, err := b.server.Start(context.Background(), operator, in); environment.CodeOf(err) != environment.CodeManagedSandboxOnly {
			t.Errorf("local where only the sandbox may: %v", err)
		}
		b.server.stop()
		if _, err := b.server.Start(context.Background(), operator, b.input("x")); environment.KindOf(err) != environment.KindUnavailable {
			t.Errorf("after the end: %v, want unavailable", err)
		}
	})
}

func TestStart_sealsWhatItCarries(t *testing.T) {
	target := newTarget(exit(time.Second, 0))
	target.acquireTime = 10 * time.Second
	inBubble(t, target, func(t *testing.T, b *bed) {
		in := b.input("x")
		in.Env, in.Stdin = map[string]string{"API_TOKEN": "canary-env"}, []byte("canary-stdin")
		r := b.start(in)
		if text := string(b.run(r.ID).Input); text == "" || strings.Contains(text, "canary") {
			t.Errorf("the row holds %q, want it sealed", text)
		}
		// Another server finds it there when this one dies before the start.
		b.server.kill()
		b.boot()
		r = b.end(r.ID)
		if seen := target.last(); r.Status != environment.RunSucceeded || string(seen.Stdin) != "canary-stdin" || seen.Env[0].Value.Reveal() != "canary-env" {
			t.Errorf("got %s with %q, want the input to have survived", r.Status, seen.Stdin)
		}
		page, err := b.store.Activity(context.Background(), environment.ActivityFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprintf("%+v", page.Items); strings.Contains(text, "canary") || !strings.Contains(text, "run.started") {
			t.Errorf("activity %s, want the start and no value", text)
		}
	})
}

func TestVariables_ownOverEnvironments(t *testing.T) {
	inBubble(t, newTarget(exit(0, 0)), func(t *testing.T, b *bed) {
		b.specs.vars = []environment.EnvValue{{Name: "A", Value: environment.NewSecret("env")}, {Name: "B", Value: environment.NewSecret("env")}}
		in := b.input("x")
		in.Env = map[string]string{"B": "run", "C": "run"}
		b.end(b.start(in).ID)
		var got []string
		for _, v := range b.target.last().Env {
			got = append(got, v.Name+"="+v.Value.Reveal())
		}
		if want := []string{"A=env", "B=run", "C=run"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
