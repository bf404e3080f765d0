package access_test

import (
	"errors"
	"strings"
	"testing"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// The companies and agents of the table. Whatever is foreign is of another
// company, in which everybody whose name begins with "foreign" is at home.
var (
	home, abroad = uuid.MustParse("018f4e9c-0000-7000-8000-00000000000a"), uuid.MustParse("018f4e9c-0000-7000-8000-00000000000b")
	ann, bob     = uuid.MustParse("018f4e9c-0000-7000-8000-0000000000a1"), uuid.MustParse("018f4e9c-0000-7000-8000-0000000000b1")
	cleo         = uuid.MustParse("018f4e9c-0000-7000-8000-0000000000c1")
)

// actors are the columns of the table.
func actors() map[string]environment.Actor {
	person := func(roles map[uuid.UUID]environment.Role) environment.Actor {
		return environment.Actor{Kind: environment.ActorPerson, ID: environment.NewID(), Roles: roles}
	}
	agent := func(id, company uuid.UUID) environment.Actor {
		return environment.Actor{Kind: environment.ActorAgent, ID: id, CompanyID: company}
	}
	mighty := person(nil)
	mighty.InstanceAdmin = true
	return map[string]environment.Actor{
		"nobody": {}, "operator": environment.LocalOperator(), "system": environment.System(), "inst.admin": mighty,
		"owner":    person(map[uuid.UUID]environment.Role{home: environment.RoleOwner}),
		"admin":    person(map[uuid.UUID]environment.Role{home: environment.RoleAdmin}),
		"member":   person(map[uuid.UUID]environment.Role{home: environment.RoleMember}),
		"mixed":    person(map[uuid.UUID]environment.Role{home: environment.RoleMember, abroad: environment.RoleAdmin}),
		"foreign":  person(map[uuid.UUID]environment.Role{abroad: environment.RoleOwner}),
		"homeless": person(nil), "agent": agent(ann, home), "f.agent": agent(cleo, abroad),
		"odd": {Kind: "member", ID: environment.NewID(), InstanceAdmin: true, CompanyID: home, Roles: map[uuid.UUID]environment.Role{home: environment.RoleOwner}},
	}
}

// subjects are the characters of a cell, in order.
func subjects() []struct {
	name    string
	subject access.Subject
} {
	run := func(company uuid.UUID, agent *uuid.UUID) access.Subject {
		return access.Run(environment.Run{CompanyID: company, AgentID: agent})
	}
	return []struct {
		name    string
		subject access.Subject
	}{
		{"the instance", access.Instance}, {"somewhere", access.Somewhere},
		{"the company", access.Company(home)}, {"a foreign company", access.Company(abroad)},
		{"an agent's own run", run(home, &ann)}, {"another agent's run", run(home, &bob)}, {"a run of nobody's", run(home, nil)},
		{"a foreign run", run(abroad, &cleo)}, {"what is no company's", access.Owned(nil)},
	}
}

// table says who may do what. A cell has one character for each subject, in the
// order of subjects: + may, 1 is nobody (401), 3 is refused by role (403), 4 is
// told that there is no such thing (404). "mixed" is a member here and an admin
// abroad; "odd" is of a kind that is not known.
const table = `
action              nobody    operator  system    inst.admin owner     admin     member    mixed     foreign   homeless  agent     f.agent   odd
environments.read   111111111 +++++++++ 333333333 +++++++++  +++4+++44 +++4+++44 +++4+++44 ++++++++4 ++4+444+4 333333333 333333333 333333333 333333333
environments.manage 111111111 +++++++++ 333333333 +++++++++  333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333
settings.read       111111111 +++++++++ 333333333 +++++++++  333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333
settings.manage     111111111 +++++++++ 333333333 +++++++++  333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333
metrics.read        111111111 +++++++++ 333333333 +++++++++  333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333
people.manage       111111111 +++++++++ 333333333 +++++++++  333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333
companies.manage    111111111 +++++++++ 333333333 +++++++++  333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333
keyset.rotate       111111111 +++++++++ 333333333 +++++++++  333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333
leases.manage       111111111 +++++++++ 333333333 +++++++++  333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333
whole.see           111111111 +++++++++ 333333333 +++++++++  333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333
local.run           111111111 +++++++++ 333333333 +++++++++  333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333 333333333
companies.read      111111111 +++++++++ 333333333 +++++++++  +++4+++44 +++4+++44 +++4+++44 ++++++++4 ++4+444+4 333333333 +++4+4444 ++4+444+4 333333333
runs.read           111111111 +++++++++ 333333333 +++++++++  3++4+++44 3++4+++44 3++4+++44 3+++++++4 3+4+444+4 333333333 3++4+4444 3+4+444+4 333333333
runs.start          111111111 +++++++++ 333333333 +++++++++  3++4+++44 3++4+++44 3++4+++44 3+++++++4 3+4+444+4 333333333 3++4+4444 3+4+444+4 333333333
runs.cancel         111111111 +++++++++ 333333333 +++++++++  3++4+++44 3++4+++44 3++4+++44 3+++++++4 3+4+444+4 333333333 3++4+4444 3+4+444+4 333333333
leases.read         111111111 +++++++++ 333333333 +++++++++  3++4+++44 3++4+++44 3++4+++44 3+++++++4 3+4+444+4 333333333 333333333 333333333 333333333
probes.read         111111111 +++++++++ 333333333 +++++++++  3++4+++44 3++4+++44 3++4+++44 3+++++++4 3+4+444+4 333333333 333333333 333333333 333333333
activity.read       111111111 +++++++++ 333333333 +++++++++  3++4+++44 3++4+++44 333333333 3+3+333+4 3+4+444+4 333333333 333333333 333333333 333333333
secrets.manage      111111111 +++++++++ 333333333 +++++++++  3++4+++44 3++4+++44 333333333 3+3+333+4 3+4+444+4 333333333 333333333 333333333 333333333
agents.manage       111111111 +++++++++ 333333333 +++++++++  3++4+++44 3++4+++44 333333333 3+3+333+4 3+4+444+4 333333333 333333333 333333333 333333333
environments.assign 111111111 +++++++++ 333333333 +++++++++  3++4+++44 3++4+++44 333333333 3+3+333+4 3+4+444+4 333333333 333333333 333333333 333333333
account.manage      111111111 333333333 333333333 +++++++++  +++4+++44 +++4+++44 +++4+++44 ++++++++4 ++4+444+4 ++4444444 333333333 333333333 333333333
`

// rows are the lines of the table, the names of the actors first.
func rows() (names []string, cells map[access.Action][]string) {
	cells = map[access.Action][]string{}
	for line := range strings.Lines(strings.TrimSpace(table)) {
		fields := strings.Fields(line)
		if names == nil {
			names = fields[1:]
			continue
		}
		cells[access.Action(fields[0])] = fields[1:]
	}
	return names, cells
}

// outcome is the character of an answer.
func outcome(err error) byte {
	switch environment.KindOf(err) {
	case "":
		return '+'
	case environment.KindUnauthenticated:
		return '1'
	case environment.KindForbidden:
		return '3'
	case environment.KindNotFound:
		return '4'
	}
	return '?'
}

func TestWhoMayDoWhat(t *testing.T) {
	names, cells := rows()
	all, of := subjects(), actors()
	if len(of) != len(names) {
		t.Errorf("%d actors, %d columns", len(of), len(names))
	}
	asked := 0
	for action, row := range cells {
		for column, name := range names {
			actor, known := of[name]
			if want := row[column]; !known || len(want) != len(all) {
				t.Fatalf("%s, %s: the cell %q is not of the table", action, name, want)
			}
			for i, s := range all {
				asked++
				err := access.May(actor, action, s.subject)
				if got, want := outcome(err), row[column][i]; got != want {
					t.Errorf("%s: %s on %s: got %c (%v), want %c", name, action, s.name, got, err, want)
				}
			}
		}
	}
	t.Logf("%d actions x %d actors x %d subjects: %d answers", len(cells), len(names), len(all), asked)
}

// TestForeignIsAsMissing: a company in which somebody has no part is answered
// exactly as one that does not exist, and the log can still tell the two apart.
func TestForeignIsAsMissing(t *testing.T) {
	err := access.May(actors()["member"], access.ReadRuns, access.Company(abroad))
	got, want := environment.AsError(err), environment.NotFound("company")
	if got.Kind != want.Kind || got.Code != want.Code || got.Message != want.Message || got.Remediation != want.Remediation || len(got.Details) != 0 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if !errors.Is(err, access.ErrForeign) {
		t.Error("the log cannot tell that it was refused")
	}
}

func TestHide(t *testing.T) {
	other := errors.New("the database is away")
	of := actors()
	for name, tc := range map[string]struct {
		err   error
		want  string // code
		cause error
	}{
		"foreign":                {access.May(of["foreign"], access.ManageAgents, access.Company(home)), "agent_not_found", access.ErrForeign},
		"greater role elsewhere": {access.May(of["mixed"], access.ManageAgents, access.Company(home)), "agent_not_found", access.ErrRole},
		"nobody":                 {access.May(of["nobody"], access.ManageAgents, access.Company(home)), "unauthenticated", nil},
		"another error":          {other, "internal", other},
		"may":                    {access.May(of["owner"], access.ManageAgents, access.Company(home)), "", nil},
	} {
		err := access.Hide(tc.err, environment.NotFound("agent"))
		if got := environment.CodeOf(err); got != tc.want || tc.cause != nil && !errors.Is(err, tc.cause) {
			t.Errorf("%s: got %q (%v), want %q because of %v", name, got, err, tc.want, tc.cause)
		}
	}
}

// TestCompanyWithoutAnID: the zero id must not pass for the instance, or for any
// company.
func TestCompanyWithoutAnID(t *testing.T) {
	of := actors()
	for _, name := range []string{"owner", "member", "agent", "mixed"} {
		for what, subject := range map[string]access.Subject{
			"company": access.Company(uuid.Nil), "run": access.Run(environment.Run{}), "owned": access.Owned(&uuid.Nil),
		} {
			for _, action := range []access.Action{access.ReadCompanies, access.ReadRuns, access.StartRun} {
				if got := outcome(access.May(of[name], action, subject)); got != '4' {
					t.Errorf("%s: %s on a %s with the zero id: got %c, want 4", name, action, what, got)
				}
			}
		}
	}
	nameless := environment.Actor{Kind: environment.ActorAgent, CompanyID: home}
	if got := outcome(access.May(nameless, access.ReadRuns, access.Run(environment.Run{CompanyID: home}))); got != '4' {
		t.Errorf("an agent without an id, a run of no agent: got %c, want 4", got)
	}
}

// TestRefusalSaysWhoMay: a person is told whom to ask.
func TestRefusalSaysWhoMay(t *testing.T) {
	of := actors()
	for name, tc := range map[string]struct {
		actor   environment.Actor
		action  access.Action
		subject access.Subject
		want    string
	}{
		"settings":          {of["owner"], access.ManageSettings, access.Instance, "instance admin"},
		"secrets, a member": {of["member"], access.ManageSecrets, access.Company(home), "owner or admin"},
		"secrets, an agent": {of["agent"], access.ManageSecrets, access.Company(home), "instance admin"},
		"account":           {of["agent"], access.ManageAccount, access.Instance, "Only people"},
	} {
		err := access.May(tc.actor, tc.action, tc.subject)
		if got := environment.AsError(err).Message; !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q does not say %q", name, got, tc.want)
		}
		if !errors.Is(err, access.ErrRole) {
			t.Errorf("%s: %v is not refused by role", name, err)
		}
	}
}
