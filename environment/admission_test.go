package environment_test

import (
	"slices"
	"strings"
	"testing"

	"berth/environment"

	"github.com/google/uuid"
)

var (
	tenant   = uuid.MustParse("00000000-0000-7000-8000-000000000001")
	template = uuid.MustParse("00000000-0000-7000-8000-000000000002")
	pinned   = environment.ImageIdentity{Kind: environment.ImageDigest, Repository: "r.example/app", Digest: "sha256:aa", ImageID: "sha256:bb"}
)

// record is a valid one for the tenant, with its fields changed.
func record(change ...func(*environment.Qualification)) *environment.Qualification {
	q := &environment.Qualification{CompanyID: tenant, Status: environment.QualificationValid, Provider: "docker", Fingerprint: "f1", Image: pinned,
		Platform: environment.Platform{OS: "linux", Arch: "x64", Libc: "musl"}}
	for _, c := range change {
		c(q)
	}
	return q
}

func revoked(reason string) func(*environment.Qualification) {
	return func(q *environment.Qualification) {
		q.Status, q.RevokedFor, q.RevokedBy = environment.QualificationRevoked, reason, "Ada"
	}
}

func captured(q *environment.Qualification) { q.TemplateID = &template }

// anyRecord are the ways in which a record may stand.
var anyRecord = map[string]*environment.Qualification{
	"none": nil, "valid": record(), "valid for a capture": record(captured), "revoked": record(revoked(environment.RevokedImage)),
	"stale": record(func(q *environment.Qualification) { q.Fingerprint = "f0" }), "of another company": record(func(q *environment.Qualification) { q.CompanyID = template }),
}

// TestAdmit walks the table of who may start natively, and from what.
func TestAdmit(t *testing.T) {
	t.Parallel()
	const (
		absent  = environment.QualificationAbsent
		good    = environment.QualificationRecorded
		stale   = environment.QualificationStale
		broken  = environment.QualificationStateRevoke
		without = environment.QualificationNotRequired
	)
	facts := func(change ...func(*environment.AdmissionFacts)) environment.AdmissionFacts {
		f := environment.AdmissionFacts{Driver: environment.DriverSandbox, Provider: "docker", Captured: environment.CapturedNone, CompanyID: tenant, Fingerprint: "f1"}
		for _, c := range change {
			c(&f)
		}
		return f
	}
	managed := func(f *environment.AdmissionFacts) { f.Managed, f.Provision = true, "docker" }
	marker := func(f *environment.AdmissionFacts) { f.Managed = true }
	other := func(f *environment.AdmissionFacts) { f.Managed, f.Provision = true, "fake" }
	provisioned := func(f *environment.AdmissionFacts) { f.Provision = "docker" }
	on := func(driver string) func(*environment.AdmissionFacts) {
		return func(f *environment.AdmissionFacts) { f.Driver, f.Provider = driver, "" }
	}
	has := func(q *environment.Qualification) func(*environment.AdmissionFacts) {
		return func(f *environment.AdmissionFacts) { f.Record = q }
	}
	capture := func(c environment.Captured) func(*environment.AdmissionFacts) {
		return func(f *environment.AdmissionFacts) {
			if f.Captured = c; c == environment.CapturedMatching {
				f.Template = &template
			}
		}
	}
	pack := func(packed bool) func(*environment.AdmissionFacts) {
		return func(f *environment.AdmissionFacts) { f.Pack = &packed }
	}
	type row struct {
		name  string
		facts environment.AdmissionFacts
		state environment.QualificationState
		code  string // "" is allowed
		says  string
		image bool
	}
	const missing = environment.CodeQualificationMissing
	rows := []row{
		{name: "local", facts: facts(on("local")), state: without},
		{name: "ssh", facts: facts(on("ssh")), state: without},
		{name: "ssh, marked", facts: facts(on("ssh"), managed, capture(environment.CapturedMalformed)), state: without},

		{name: "managed, capture matches, valid for it", facts: facts(managed, capture(environment.CapturedMatching), has(record(captured))), state: good, image: true},
		{name: "managed, capture matches, none", facts: facts(managed, capture(environment.CapturedMatching)), state: absent, code: missing, says: "no qualification"},
		{name: "managed, capture matches, of the base image", facts: facts(managed, capture(environment.CapturedMatching), has(record())), state: stale, code: missing, says: "stale"},
		{name: "managed, capture matches, revoked", facts: facts(managed, capture(environment.CapturedMatching), has(record(captured, revoked(environment.RevokedTemplate)))), state: broken, code: missing, says: "captured image was changed"},

		{name: "marker alone, valid", facts: facts(marker, has(record())), state: good, image: true},
		{name: "marker alone, none", facts: facts(marker), state: absent, code: missing, says: "no qualification"},
		{name: "marker alone, stale", facts: facts(marker, has(anyRecord["stale"])), state: stale, code: missing, says: "stale"},
		{name: "marker alone, revoked", facts: facts(marker, has(anyRecord["revoked"])), state: broken, code: missing, says: "image was changed (by Ada)"},
		{name: "another provider is provisioned, none", facts: facts(other), state: absent, code: missing},
		{name: "another provider is provisioned, valid", facts: facts(other, has(record())), state: good, image: true},
		{name: "an operator's own, its provider is provisioned", facts: facts(provisioned), state: absent, code: missing},

		{name: "own, valid", facts: facts(has(record())), state: good, image: true},
		{name: "own, valid, packed", facts: facts(has(record()), pack(true)), state: good, image: true},
		{name: "own, capture matches, valid for it", facts: facts(capture(environment.CapturedMatching), has(record(captured))), state: good, image: true},
		{name: "own, capture outdated, valid", facts: facts(capture(environment.CapturedOutdated), has(record())), state: good, image: true},
		{name: "own, none", facts: facts(), state: absent, code: missing, says: "no qualification for this company"},
		{name: "own, of another company", facts: facts(has(anyRecord["of another company"])), state: absent, code: missing},
		{name: "own, stale", facts: facts(has(anyRecord["stale"])), state: stale, code: missing, says: "stale"},
		{name: "own, no fingerprint", facts: facts(has(record(func(q *environment.Qualification) { q.Fingerprint = "" })), func(f *environment.AdmissionFacts) { f.Fingerprint = "" }), state: stale, code: missing},
		{name: "own, no identity", facts: facts(has(record(func(q *environment.Qualification) { q.Image = environment.ImageIdentity{Kind: environment.ImageDigest} }))), state: stale, code: missing},
		{name: "own, captured since", facts: facts(capture(environment.CapturedMatching), has(record())), state: stale, code: missing},
		{name: "own, capture discarded since", facts: facts(has(record(captured))), state: stale, code: missing},
		{name: "own, valid, no pack", facts: facts(has(record()), pack(false)), state: good, code: environment.CodeUnsupportedAdapter, says: "linux/x64, musl"},
	}
	for reason, says := range map[string]string{
		environment.RevokedTarget: "target", environment.RevokedAccount: "credential", environment.RevokedImage: "image", environment.RevokedProbe: "test failed",
		environment.RevokedDeleted: "does not exist", environment.RevokedDriver: "driver", environment.RevokedTemplate: "captured",
	} {
		rows = append(rows, row{name: "own, revoked for " + reason, facts: facts(has(record(revoked(reason)))), state: broken, code: missing, says: says})
	}
	for how, q := range anyRecord {
		rows = append(rows,
			row{name: "managed, record " + how, facts: facts(managed, has(q)), state: without},
			row{name: "managed, capture outdated, record " + how, facts: facts(managed, capture(environment.CapturedOutdated), has(q)), state: without},
			row{name: "managed, no pack, record " + how, facts: facts(managed, has(q), pack(false)), state: without})
		state := map[string]environment.QualificationState{"none": absent, "of another company": absent, "revoked": broken}[how]
		if state == "" {
			state = stale
		}
		for who, as := range map[string]func(*environment.AdmissionFacts){"managed": managed, "own": func(*environment.AdmissionFacts) {}, "marker": marker} {
			rows = append(rows, row{name: who + ", capture malformed, record " + how, facts: facts(as, capture(environment.CapturedMalformed), has(q)), state: state, code: missing, says: "cannot be read"})
		}
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got := environment.Admit(r.facts)
			if got.State != r.state || got.Code != r.code || got.Allowed != (r.code == "") || got.Required != (r.state != without) || !strings.Contains(got.Message, r.says) {
				t.Errorf("got %+v, want %s, code %q, saying %q", got, r.state, r.code, r.says)
			}
			if (got.Identity != nil) != r.image || r.image && !got.Identity.Same(pinned) || (got.Message == "") != (r.code == "") {
				t.Errorf("got identity %+v, message %q; want an identity: %v", got.Identity, got.Message, r.image)
			}
			if !slices.Contains(environment.QualificationStates(), got.State) {
				t.Errorf("%q is no state", got.State)
			}
		})
	}
}
