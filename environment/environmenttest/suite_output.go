package environmenttest

import (
	"bytes"
	"context"
	"testing"

	"berth/environment"

	"github.com/google/uuid"
)

func chunk(stream environment.Stream, offset int64, data string) environment.LogChunk {
	return environment.LogChunk{Stream: stream, StreamOffset: offset, Data: []byte(data)}
}

// log reads a whole log in steps, with what the last page says.
func (s suite) log(ctx context.Context, id uuid.UUID, offset int64, step int) (text []byte, last environment.LogPage) {
	s.t.Helper()
	for {
		page, err := s.Log(ctx, id, offset, step)
		s.must(err)
		for _, c := range page.Chunks {
			text = append(text, c.Data...)
		}
		if page.NextOffset == offset {
			return text, page
		}
		offset, last = page.NextOffset, page
		if last.Done {
			return text, last
		}
	}
}

func testOutput(t *testing.T, s suite) {
	ctx := t.Context()
	r := s.run(s.company("acme"), s.environment("box"))
	s.must(s.AppendOutput(ctx, r.ID, s.server, []environment.LogChunk{chunk("stdout", 0, "out1"), chunk("stderr", 0, "err1")}))
	s.must(s.AppendOutput(ctx, r.ID, s.server, []environment.LogChunk{chunk("stdout", 4, "out2")}))
	s.must(s.AppendOutput(ctx, r.ID, s.server, nil))
	page, err := s.Log(ctx, r.ID, 0, 0)
	s.must(err)
	for i := range page.Chunks {
		page.Chunks[i].Seq = 0
	}
	same(t, "log", page, environment.LogPage{NextOffset: 12, Chunks: []environment.LogChunk{
		{Stream: "stdout", Offset: 0, StreamOffset: 0, Data: []byte("out1")}, {Stream: "stderr", Offset: 4, StreamOffset: 0, Data: []byte("err1")},
		{Stream: "stdout", Offset: 8, StreamOffset: 4, Data: []byte("out2")}}})
	page, err = s.Log(ctx, r.ID, 6, 4)
	s.must(err)
	if len(page.Chunks) != 2 || string(page.Chunks[0].Data) != "r1" || page.Chunks[0].StreamOffset != 2 || string(page.Chunks[1].Data) != "ou" || page.NextOffset != 10 {
		t.Errorf("four bytes from the sixth: got %+v", page)
	}
	got, err := s.Received(ctx, r.ID)
	s.must(err)
	same(t, "received", got, map[environment.Stream]int64{"stdout": 8, "stderr": 4})
	run, err := s.Run(ctx, r.ID)
	s.must(err)
	same(t, "log size", run.LogSize, 12)
	events, err := s.Events(ctx, r.ID, 0, 0)
	s.must(err)
	if last := events[len(events)-1]; last.Kind != environment.EventOutput || last.Chunk == nil || string(last.Chunk.Data) != "out2" || last.Chunk.Seq != last.Seq {
		t.Errorf("last event: got %+v, want the output", last)
	}
	for offset, done := range map[int64]bool{0: true, 12: true, 99: true} {
		s.ended(r.ID)
		page, err := s.Log(ctx, r.ID, offset, 0)
		s.must(err)
		same(t, "done at the end of an ended run", page.Done, done)
	}
	nobody := environment.NewID()
	s.code("append to no run", s.AppendOutput(ctx, nobody, uuid.Nil, []environment.LogChunk{chunk("stdout", 0, "x")}), environment.KindNotFound, "run_not_found")
	_, err = s.Log(ctx, nobody, 0, 0)
	s.code("read the log of no run", err, environment.KindNotFound, "run_not_found")
	_, err = s.Received(ctx, nobody)
	s.code("ask what no run received", err, environment.KindNotFound, "run_not_found")
}

// ended ends a run that is queued; nothing when it has ended.
func (s suite) ended(id uuid.UUID) {
	s.t.Helper()
	r, err := s.Run(s.t.Context(), id)
	s.must(err)
	if !r.Status.Ended() {
		s.move(id, environment.RunCancelled)
	}
}

func testOutputAgain(t *testing.T, s suite) {
	ctx := t.Context()
	r := s.run(s.company("acme"), s.environment("box"))
	for _, c := range []environment.LogChunk{chunk("stdout", 0, "abcdef"), chunk("stdout", 0, "abcdef"), chunk("stdout", 3, "def"),
		chunk("stdout", 4, "efgh"), chunk("stdout", 2, "c"), chunk("stderr", 0, "E"), chunk("stdout", 8, "")} {
		s.must(s.AppendOutput(ctx, r.ID, s.server, []environment.LogChunk{c}))
	}
	s.must(s.AppendOutput(ctx, r.ID, s.server, []environment.LogChunk{chunk("stdout", 6, "ghij"), chunk("stdout", 8, "ijkl")}))
	text, _ := s.log(ctx, r.ID, 0, 0)
	same(t, "log without what came twice", string(text), "abcdefghEijkl")
	got, err := s.Received(ctx, r.ID)
	s.must(err)
	same(t, "received", got, map[environment.Stream]int64{"stdout": 12, "stderr": 1})
}

func testLogCut(t *testing.T, s suite) {
	ctx := t.Context()
	r := s.run(s.company("acme"), s.environment("box"))
	const piece = 1 << 20
	var whole []byte
	add := func(n int) {
		data := bytes.Repeat([]byte{byte('a' + len(whole)/piece%26)}, n)
		data[0], data[n-1] = '<', '>'
		s.must(s.AppendOutput(ctx, r.ID, s.server, []environment.LogChunk{{Stream: "stdout", StreamOffset: int64(len(whole)), Data: data}}))
		whole = append(whole, data...)
	}
	for len(whole) < environment.MaxRunLog-piece {
		add(piece)
	}
	add(piece)
	s.kept(r.ID, whole)
	add(1)
	s.kept(r.ID, whole)
	add(3*piece + 17)
	s.kept(r.ID, whole)
	for range 9 {
		add(piece - 1)
	}
	s.kept(r.ID, whole)
}

// kept wants of a log its head and its tail, at most MaxRunLog in all, and the
// middle reported as cut.
func (s suite) kept(id uuid.UUID, whole []byte) {
	s.t.Helper()
	ctx, size := s.t.Context(), int64(len(whole))
	from, to := environment.CutOf(size)
	r, err := s.Run(ctx, id)
	s.must(err)
	if r.LogSize != size || r.LogCut != to-from {
		s.t.Fatalf("run with %d bytes: got size %d, cut %d, want cut %d", size, r.LogSize, r.LogCut, to-from)
	}
	text, last := s.log(ctx, id, 0, 3<<20)
	if want := append(bytes.Clone(whole[:from]), whole[to:]...); r.LogCut > 0 && !bytes.Equal(text, want) {
		s.t.Errorf("log of %d bytes: got %d bytes, want the first %d and those from %d", size, len(text), from, to)
	} else if r.LogCut == 0 && !bytes.Equal(text, whole) {
		s.t.Errorf("log of %d bytes: got %d bytes, want all", size, len(text))
	}
	if r.LogCut > 0 && (last.Cut != r.LogCut || last.CutAt != from) {
		s.t.Errorf("what a page says of the cut: got %d at %d, want %d at %d", last.Cut, last.CutAt, r.LogCut, from)
	}
	page, err := s.Log(ctx, id, (from+to)/2, 10)
	s.must(err)
	if r.LogCut > 0 && (len(page.Chunks) == 0 || page.Chunks[0].Offset != to || page.NextOffset != to+10) {
		s.t.Errorf("read within the cut: got %d chunks, next %d, want what is behind it", len(page.Chunks), page.NextOffset)
	}
}

func testBytes(t *testing.T, s suite) {
	ctx := t.Context()
	c, e := s.company("acme"), s.environment("box")
	bad := "a\x00b\xffc\n"
	r := s.run(c, e)
	s.must(s.AppendOutput(ctx, r.ID, s.server, []environment.LogChunk{chunk("stdout", 0, bad)}))
	text, _ := s.log(ctx, r.ID, 0, 0)
	same(t, "output, byte for byte", string(text), bad)
	for _, next := range []environment.RunStatus{environment.RunAcquiring, environment.RunFailed} {
		_, err := s.UpdateRun(ctx, r.ID, uuid.Nil, func(r *environment.Run) error {
			r.Status, r.WorkingDir, r.Signal, r.Termination = next, &bad, &bad, bad
			r.Failure, r.Host = &environment.Failure{Code: "x", Message: bad}, &environment.HostFacts{Name: bad}
			return nil
		})
		s.must(err)
	}
	p := s.begun(s.probe(e))
	s.must(s.ReportStages(ctx, p.ID, environment.Stage{Name: "login", Message: bad, Measured: map[string]any{bad: []any{bad}}}))
	v := verdict(p, environment.CodeLoginRefused)
	v.Summary, v.Stages[0].Message, v.Host = bad, bad, &environment.HostFacts{Name: bad, BootID: bad}
	_, err := s.FinishProbe(ctx, v, environment.QualificationChange{}, environment.Activity{Action: "x", ActorName: bad, Details: map[string]any{"said": bad}})
	s.must(err)
	l := s.lease(c, e, nil)
	_, err = s.UpdateLease(ctx, l.ID, func(l *environment.Lease) error {
		l.Status, l.FailureReason, l.ProviderID = environment.LeaseFailed, &bad, &bad
		l.Receipt = []byte(`{"said":"a\u0000b \ud800 \\u0000","n":12345678901234567890,"a\u0000":1}`)
		return nil
	}, nil)
	s.must(err)
	_, err = s.Lease(ctx, l.ID)
	s.must(err)
	same(t, "health after the answer", s.view(e.ID).Health(), environment.HealthUnfit)
}
