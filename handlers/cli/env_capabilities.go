package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"berth/environment/configschema"
	"berth/handlers/api"

	"github.com/spf13/cobra"
)

func (a *app) envCapabilitiesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "capabilities",
		Short: "Show what each driver and sandbox provider can do, and its settings; touches no target",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			path, err := a.instancePath(cmd.Context(), c, "/environments/capabilities")
			if err != nil {
				return err
			}
			var raw json.RawMessage
			if err := c.call(cmd.Context(), request{method: http.MethodGet, path: path, into: &raw}); err != nil {
				return err
			}
			return a.show(raw, func(w io.Writer) { printCapabilities(w, raw) })
		},
	}
}

func printCapabilities(w io.Writer, raw json.RawMessage) {
	var matrix api.Capabilities
	if err := json.Unmarshal(raw, &matrix); err != nil {
		writef(w, "%s\n", raw)
		return
	}
	t := newTable(w, "DRIVER", "SUPPORT")
	for _, name := range sortedKeys(matrix.Drivers) {
		t.row(name, matrix.Drivers[name])
	}
	t.flush()
	for _, key := range sortedKeys(matrix.SandboxProviders) {
		printProvider(w, key, matrix.SandboxProviders[key])
	}
}

func printProvider(w io.Writer, key string, p api.SandboxProvider) {
	writef(w, "\nSandbox provider %s (%s): %s\n", printable(key), printable(p.DisplayName), p.Status)
	if p.Reason != nil {
		writef(w, "  %s\n", printable(*p.Reason))
	}
	can := []string{}
	for _, ability := range []struct {
		has  bool
		word string
	}{
		{p.SupportsSavedProbe, "test"}, {p.SupportsUnsavedProbe, "test of values that are not saved"}, {p.SupportsRunExecution, "run"},
		{p.SupportsReusableLeases, "reuse"}, {p.SupportsImageIdentity, "tell its image"}, {p.SupportsListing, "list what it holds"},
		{p.SupportsInteractiveSetup, "interactive set-up"}, {p.SupportsTemplateCapture, "capture images"}, {p.SupportsTemplateDelete, "delete images"},
	} {
		if ability.has {
			can = append(can, ability.word)
		}
	}
	writef(w, "  can: %s\n", strings.Join(can, ", "))
	schema, err := configschema.Parse(p.ConfigSchema)
	if err != nil {
		return // it has no settings, or such that this command line does not know
	}
	t := newTable(w, "  SETTING", "TYPE", "DEFAULT", "IS")
	for _, f := range schema.Fields {
		kind := f.Type
		switch {
		case f.Secret:
			kind = "secret"
		case len(f.Options) > 0:
			kind = "word"
		}
		title := f.Title
		if len(f.Options) > 0 {
			var values []string
			for _, o := range f.Options {
				values = append(values, o.Value)
			}
			title += ": " + strings.Join(values, ", ")
		}
		if f.Unit != "" {
			title += ", in " + f.Unit
		}
		if f.Required {
			title += " (required)"
		}
		t.row("  "+f.Name, kind, string(f.Default), title)
	}
	t.flush()
}
