package store

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"berth/environment"

	"github.com/lib/pq"
)

func TestC80_TextIsMadeStorable(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain":             {"ünter", "ünter"},
		"NUL":               {"a\x00b", "a\uFFFDb"},
		"broken":            {"a\xffc", "a\uFFFDc"},
		"cut character":     {"a\xe2\x82", "a\uFFFD"},
		"both":              {"\x00\xff", "\uFFFD\uFFFD"},
		"stands for itself": {"\uFFFD", "\uFFFD"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := clean(c.in); got != c.want {
				t.Errorf("clean %q: got %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestC80_DocumentsAreMadeStorable(t *testing.T) {
	for name, c := range map[string]struct {
		in   any
		want driver.Value
	}{
		"nothing":         {nil, nil},
		"no document":     {json.RawMessage(nil), nil},
		"null":            {json.RawMessage(" null "), nil},
		"no facts":        {(*environment.HostFacts)(nil), nil},
		"plain":           {json.RawMessage(`{"a": 1}`), `{"a": 1}`},
		"NUL":             {json.RawMessage(`{"a\u0000":"b\u0000"}`), `{"a�":"b�"}`},
		"written-out NUL": {json.RawMessage(`{"a":"\\u0000"}`), `{"a":"\\u0000"}`},
		"lone surrogate":  {json.RawMessage(`["\uD800","\ud83d\ude00"]`), `["�","😀"]`},
		"broken":          {json.RawMessage("[\"\xff\"]"), `["�"]`},
		"large number":    {json.RawMessage(`{"a":"\u0000","n":12345678901234567890}`), `{"a":"�","n":12345678901234567890}`},
		"Go value":        {map[string]any{"a": "x\x00y\xff"}, `{"a":"x�y�"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := document{c.in}.Value()
			if err != nil || got != c.want {
				t.Errorf("store %v: got %v, %v, want %v", c.in, got, err, c.want)
			}
		})
	}
	if _, err := (document{json.RawMessage(`{"a":"\u0000"`)}).Value(); err == nil {
		t.Error("a broken document was taken")
	}
}

func TestErrorsGetTheirKind(t *testing.T) {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	dial := &net.OpError{Op: "dial", Err: errors.New("refused")}
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		kind environment.Kind
		code string
	}{
		"shut down":        {t.Context(), &pq.Error{Code: "57P01"}, environment.KindUnavailable, "database_unavailable"},
		"starting up":      {t.Context(), &pq.Error{Code: "57P03"}, environment.KindUnavailable, "database_unavailable"},
		"disk full":        {t.Context(), &pq.Error{Code: "53100"}, environment.KindUnavailable, "database_unavailable"},
		"too many clients": {t.Context(), &pq.Error{Code: "53300"}, environment.KindUnavailable, "database_unavailable"},
		"read only":        {t.Context(), &pq.Error{Code: "25006"}, environment.KindUnavailable, "database_unavailable"},
		"no answer":        {t.Context(), fmt.Errorf("x: %w", dial), environment.KindUnavailable, "database_unavailable"},
		"cut off":          {t.Context(), io.ErrUnexpectedEOF, environment.KindUnavailable, "database_unavailable"},
		"bad connection":   {t.Context(), driver.ErrBadConn, environment.KindUnavailable, "database_unavailable"},
		"too slow":         {t.Context(), context.DeadlineExceeded, environment.KindUnavailable, "database_unavailable"},
		"caller's time":    {late, &pq.Error{Code: "57014"}, environment.KindTimeout, "timed_out"},
		"caller left":      {over, &pq.Error{Code: "57014"}, environment.KindInternal, "internal"},
		"name":             {t.Context(), &pq.Error{Code: "23505", Constraint: "companies_name_key"}, environment.KindConflict, "name_taken"},
		"other unique":     {t.Context(), &pq.Error{Code: "23505", Constraint: "runs_pkey"}, environment.KindInternal, "internal"},
		"our own":          {t.Context(), environment.NotFound("run"), environment.KindNotFound, "run_not_found"},
	} {
		t.Run(name, func(t *testing.T) {
			err := translate(c.ctx, "try", c.err)
			if environment.KindOf(err) != c.kind || environment.CodeOf(err) != c.code {
				t.Errorf("translate %v: got %v (%s), want %s %s", c.err, err, environment.KindOf(err), c.kind, c.code)
			}
		})
	}
	if err := translate(over, "try", &pq.Error{Code: "57014"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error of a caller who left: got %v, want one that says so", err)
	}
}
