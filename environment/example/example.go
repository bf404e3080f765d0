// Package example holds well-known values at a fixed time: environments in
// every state of health, probes with every code, runs, leases and the rest.
// Previews and tests build on them. Each function returns a fresh value that
// the caller may change.
package example

import (
	"encoding/json"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// Now is the moment at which every example plays. As a function it is also the
// clock that previews and tests hand in.
func Now() time.Time { return time.Date(2026, 9, 14, 10, 30, 0, 0, time.UTC) }

// Before is the moment d before Now.
func Before(d time.Duration) time.Time { return Now().Add(-d) }

// Server is the id of the server that owns what is under way.
func Server() uuid.UUID { return id(0x01, 1) }

// id makes a UUID that says what it is of: group tells the kind of thing.
func id(group, n byte) uuid.UUID {
	return uuid.UUID{0x01, 0x99, 0x45, 0x3c, 0x10, group, 0x70, 0x00, 0x80, 0, 0, 0, 0, 0, group, n}
}

func pointer[T any](v T) *T { return &v }

func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only plain structs of this package come here
	}
	return b
}

// Acme is the first company.
func Acme() environment.Company {
	return environment.Company{ID: id(0x02, 1), Name: "Acme Robotics", CreatedAt: Before(90 * 24 * time.Hour), UpdatedAt: Before(90 * 24 * time.Hour)}
}

// Globex is the second.
func Globex() environment.Company {
	return environment.Company{ID: id(0x02, 2), Name: "Globex", CreatedAt: Before(30 * 24 * time.Hour), UpdatedAt: Before(30 * 24 * time.Hour)}
}

// Companies are both.
func Companies() []environment.Company { return []environment.Company{Acme(), Globex()} }

// Settings have environments on and Local as the default.
func Settings() environment.Settings {
	return environment.Settings{EnableEnvironments: true, DefaultEnvironmentID: pointer(Local().ID),
		MaxRunTimeout: int(environment.MaxRunTimeout / time.Second), Revision: 4, UpdatedAt: Before(20 * 24 * time.Hour)}
}

// SettingsOff are those of a new instance: environments are off.
func SettingsOff() environment.Settings {
	s := Settings()
	s.EnableEnvironments, s.Revision = false, 1
	return s
}

// Capabilities are those of the drivers that ship.
func Capabilities() []environment.Capabilities {
	return []environment.Capabilities{
		{Driver: environment.DriverLocal, DisplayName: "Local", Configure: true, Probe: true, Exec: true, Files: true},
		{Driver: environment.DriverSSH, DisplayName: "SSH", Configure: true, Probe: true, Exec: true, Files: true, ScanHostKey: true, Keys: true},
	}
}

// Activity is a page of the log, newest first.
func Activity() []environment.Activity {
	entry := func(n byte, ago time.Duration, action string, details map[string]any) environment.Activity {
		return environment.Activity{ID: id(0x07, n), ActorKind: environment.ActorLocalOperator, ActorName: "local operator",
			Action: action, EntityType: "environment", EntityID: ReadySSH().ID.String(), Details: details,
			RequestID: "req-" + action, CreatedAt: Before(ago)}
	}
	return []environment.Activity{
		entry(4, 4*time.Minute, "environment.probed", map[string]any{"ok": true, "durationMs": 148}),
		entry(3, 50*time.Minute, "environment.updated", map[string]any{"name": "build-box", "revision": 5, "changedFields": []string{"config.port", "config.privateKeySecretRef"},
			"changes": map[string]any{"config.port": map[string]any{"before": 22, "after": 2222}, "config.privateKeySecretRef": "changed"}}),
		entry(2, 3*time.Hour, "environment.host_key_trusted", map[string]any{"fingerprint": HostKeys()[0].Fingerprint}),
		entry(1, 26*time.Hour, "environment.created", map[string]any{"name": "build-box", "driver": "ssh"}),
	}
}
