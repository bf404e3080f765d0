package environment_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"berth/environment"
)

// declaredCodes are the codes of the first block of codes.go: those of targets.
func declaredCodes(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, decl := range file.Decls {
		block, ok := decl.(*ast.GenDecl)
		if !ok || block.Tok != token.CONST {
			continue
		}
		for _, spec := range block.Specs {
			value, _ := spec.(*ast.ValueSpec)
			literal, _ := value.Values[0].(*ast.BasicLit)
			code, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			codes = append(codes, code)
		}
		return codes
	}
	t.Fatal("codes.go declares none")
	return nil
}

func TestEveryCodeOfATargetHasPlainWords(t *testing.T) {
	for _, code := range declaredCodes(t) {
		if environment.Plainly(code) == environment.Plainly("unheard_of") {
			t.Errorf("%s has no words that name no host", code)
		}
	}
}

func TestEventsAreReducedWhateverTheyHold(t *testing.T) {
	for name, e := range map[string]environment.Event{
		"stage":                  {Kind: environment.EventStage, Payload: json.RawMessage(`{"name":"connect","status":"failed","code":"connect_refused","message":"zebra refused","measured":{"ip":"zebra"},"remediation":"Ask zebra."}`)},
		"end of a run":           {Kind: environment.EventEnd, Payload: json.RawMessage(`{"status":"failed","failure":{"code":"connect_refused","message":"zebra refused","remediation":"Ask zebra."}}`)},
		"a failure that is none": {Kind: environment.EventEnd, Payload: json.RawMessage(`{"status":"failed","failure":"zebra"}`)},
		"a stage that is none":   {Kind: environment.EventStage, Payload: json.RawMessage(`["zebra"]`)},
		"no JSON":                {Kind: environment.EventState, Payload: json.RawMessage(`zebra`)},
	} {
		got := e.Reduced()
		if strings.Contains(string(got.Payload), "zebra") || !json.Valid(got.Payload) {
			t.Errorf("%s: %s", name, got.Payload)
		}
		if name == "end of a run" && !strings.Contains(string(got.Payload), `"status":"failed"`) {
			t.Errorf("%s: %s lacks what may be told", name, got.Payload)
		}
	}
	output := environment.Event{Kind: environment.EventOutput, Chunk: &environment.LogChunk{Data: []byte("zebra")}}
	if got := output.Reduced(); string(got.Chunk.Data) != "zebra" {
		t.Error("output is the company's own")
	}
}

func TestReducedRows(t *testing.T) {
	code, words := "connect_refused", "zebra refused the connection"
	for reason, want := range map[*string]*string{nil: nil, &code: &code, &words: nil} {
		if got := (environment.Lease{FailureReason: reason}).Reduced(); got.FailureReason != want {
			t.Errorf("a lease that failed with %v shows %v", reason, got.FailureReason)
		}
	}
	v := environment.EnvironmentView{Environment: environment.Environment{Config: json.RawMessage(`{"provider":"docker","image":"zebra"}`)}}
	if got := v.Reduced(); string(got.Config) != `{"provider":"docker"}` {
		t.Errorf("config %s", got.Config)
	}
	cancelled := environment.Probe{State: environment.ProbeCancelled, Summary: "zebra"}.Reduced()
	if cancelled.Summary != "The test was cancelled." {
		t.Errorf("a cancelled probe says %q", cancelled.Summary)
	}
	own := &environment.Failure{Code: "command_failed", Message: "The command exited with 3."}
	if got := own.Reduced(); got.Message != own.Message {
		t.Errorf("a command's own end is told as %q", got.Message)
	}
}

func TestReducedSandboxes(t *testing.T) {
	image := &environment.ImageIdentity{Reference: "zebra.example/app:1"}
	for name, q := range map[string]*environment.QualificationResult{
		"not asked":    nil,
		"recorded":     {Recorded: true, Code: environment.QualRecorded, Message: "zebra.example/app:1 is recorded"},
		"not recorded": {Code: environment.QualMutableImage, Message: "zebra.example/app:1 is a tag"},
	} {
		got := environment.Probe{Image: image, Qualification: q}.Reduced()
		if got.Image != nil || (got.Qualification == nil) != (q == nil) {
			t.Errorf("%s: %+v", name, got)
		}
		if r := got.Qualification; r != nil && (r.Recorded != q.Recorded || r.Code != q.Code || r.Message == "" || strings.Contains(r.Message, "zebra")) {
			t.Errorf("%s: %+v", name, *r)
		}
	}
	words, code, scope := "zebra is gone", environment.CodeSandboxGone, "zebra"
	lease := environment.Lease{AcquisitionReason: &words, CleanupError: &code, ScopeKey: &scope, ObjectKey: &scope}.Reduced()
	if lease.AcquisitionReason != nil || lease.CleanupError == nil || lease.ScopeKey != nil || lease.ObjectKey != nil {
		t.Errorf("%+v", lease)
	}
}

func TestErrorsWithoutTarget(t *testing.T) {
	cause := errors.New("dial zebra")
	err := environment.WithoutTarget(environment.Unavailable(environment.CodeConnectRefused, "zebra refused").Because(cause))
	if e := environment.AsError(err); strings.Contains(e.Message+e.Remediation, "zebra") || e.Code != environment.CodeConnectRefused ||
		e.Kind != environment.KindUnavailable || !errors.Is(err, cause) {
		t.Errorf("%+v", e)
	}
	for _, err := range []error{nil, cause, environment.NotFound("run"), environment.NewError(environment.KindNotFound, "file_not_found", `There is no "a" in the workspace.`)} {
		if got := environment.WithoutTarget(err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
}
