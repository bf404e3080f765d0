package views

import (
	"strings"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/example"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/uuid"
)

func TestCommandLineQuotesForTheShell(t *testing.T) {
	for name, test := range map[string]struct {
		argv []string
		want string
	}{
		"plain":       {[]string{"uname", "-a"}, "uname -a"},
		"blank":       {[]string{"echo", "a b"}, "echo 'a b'"},
		"empty":       {[]string{"printf", ""}, "printf ''"},
		"quote":       {[]string{"echo", "it's"}, `echo 'it'\''s'`},
		"substituted": {[]string{"echo", "$(id)"}, "echo '$(id)'"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := commandLine(test.argv); got != test.want {
				t.Errorf("commandLine(%q) = %s, want %s", test.argv, got, test.want)
			}
		})
	}
}

func TestHealthPillSaysStatusFirst(t *testing.T) {
	for name, test := range map[string]struct {
		view environment.EnvironmentView
		want string
	}{
		"archived":         {example.Archived(), "Archived"},
		"in maintenance":   {example.Maintenance(), "Maintenance"},
		"local":            {example.Local(), "Local"},
		"host key unknown": {example.UntrustedSSH(), "Host key unknown"},
		"host key changed": {example.ReplacedSSH(), "Host key changed"},
		"testing":          {example.Testing(), "Testing"},
		"unreachable":      {example.Unreachable(), "Unreachable"},
		"unfit":            {example.Unfit(), "Unfit"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := healthPill(test.view).text; got != test.want {
				t.Errorf("the pill says %q, want %q", got, test.want)
			}
		})
	}
}

func TestAddressesEscapeWhatTheyCarry(t *testing.T) {
	id := uuid.MustParse("0199453c-1003-7000-8000-000000000302")
	for got, want := range map[string]string{
		EnvironmentPath(id):            Environments + "/0199453c-1003-7000-8000-000000000302",
		TrustPath(id, "SHA256:a+b/c="): Environments + "/0199453c-1003-7000-8000-000000000302/trust?fingerprint=SHA256%3Aa%2Bb%2Fc%3D",
		FilesPath(id, id, "a b/../c&"): "/companies/" + id.String() + "/runs/" + id.String() + "/files?path=a+b%2F..%2Fc%26",
		TabPath(id, TabLeases):         Environments + "/0199453c-1003-7000-8000-000000000302?tab=leases",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestC80_OutputShowsStandIns: what is no text shows, and a character that two
// chunks share is whole.
func TestC80_OutputShowsStandIns(t *testing.T) {
	text := NewOutputText()
	var out strings.Builder
	for _, c := range []environment.LogChunk{
		{Stream: environment.Stdout, Data: []byte("a\x00b\xffc\n\xc3")},
		{Stream: environment.Stderr, Data: []byte("warn \x1b[31m\r\n")},
		{Stream: environment.Stdout, Data: []byte("\xa9 done\n")},
	} {
		piece := text.Piece(c)
		if piece.Stderr != (c.Stream == environment.Stderr) {
			t.Errorf("chunk of %s: stderr %v", c.Stream, piece.Stderr)
		}
		out.WriteString(piece.Text)
	}
	if want := "a\uFFFDb\uFFFDc\nwarn \u241b[31m\né done\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestOutputSaysWhereItIsCut(t *testing.T) {
	p := NewRunOutput(example.CutRun(), example.LogWithCut())
	if p.state != OutputCut || p.pieces[1].Cut != 4096 || !p.partial {
		t.Errorf("state %s, cut %d, partial %v; want cut, 4096, true", p.state, p.pieces[1].Cut, p.partial)
	}
}

func TestTrustDialogKnowsWhatItWouldDo(t *testing.T) {
	for name, test := range map[string]struct {
		view      environment.EnvironmentView
		presented []environment.HostKey
		want      TrustDialogState
	}{
		"nothing trusted yet": {example.UntrustedSSH(), example.HostKeys(), TrustUnknown},
		"another one trusted": {example.ReplacedSSH(), []environment.HostKey{example.NewHostKey()}, TrustReplace},
		"trusted already":     {example.ReadySSH(), example.HostKeys(), TrustAlready},
		"nothing presented":   {example.Unreachable(), nil, TrustFailed},
	} {
		t.Run(name, func(t *testing.T) {
			if p := NewTrustDialog(test.view.Environment, test.presented, "", nil); p.state != test.want {
				t.Errorf("state %s, want %s", p.state, test.want)
			}
		})
	}
}

func TestLeaseReason(t *testing.T) {
	unproven, lost := environment.CodeTerminationUnproven, environment.CodeConnectionLost
	for _, c := range []struct {
		reason *string
		want   string
	}{
		{nil, ""}, {&lost, "connection lost"}, {&unproven, "given back, but not proven that nothing of the run is left"},
	} {
		if got := leaseReason(environment.Lease{FailureReason: c.reason}); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// Somebody who may not see the tests that there are is not told that there are
// none.
func TestTestsOfOtherCompaniesAreNotNone(t *testing.T) {
	recent := example.ReadySSH().Recent
	for name, c := range map[string]struct {
		probes []environment.Probe
		recent []environment.ProbeMark
		never  bool
		text   string
	}{
		"never tested":           {nil, nil, true, "It was never tested."},
		"tested for other teams": {nil, recent, false, "None of its tests was for a company of yours."},
	} {
		var b strings.Builder
		if err := ProbeHistory(NewProbeHistory(c.probes, c.recent, example.Now())).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), c.text) || strings.Contains(b.String(), "never tested") != c.never {
			t.Errorf("%s: %s", name, b.String())
		}
	}
}

// On a phone, where a table has no head, each cell says what it is.
func TestKeysSayWhenTheyExpire(t *testing.T) {
	past, soon := example.Now().Add(-time.Hour), example.Now().Add(72*time.Hour)
	for want, until := range map[string]*time.Time{"expires in 3 days": &soon, "expired 1 h ago": &past, "expires never": nil} {
		var b strings.Builder
		if err := KeyList(NewTokenList([]environment.Key{{Name: "ci", ExpiresAt: until}}, NewKeyValues(), nil, example.Now())).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(doc.Find("tbody td").Eq(4).Text()), " "); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}
