package handlers

import (
	"net/url"
	"strings"
	"testing"

	"berth/environment"

	"github.com/google/uuid"
)

// TestRunPageAndItsStreamLeaveNothingOut: the run goes on between the two reads
// that make its page. Its stream begins where the page ends.
func TestRunPageAndItsStreamLeaveNothingOut(t *testing.T) {
	f := newFront(t)
	f.driver.output = []piece{{environment.Stdout, "first"}}
	run := f.startRun(f.create("box"), "")
	path := "/api/runs/" + run.ID.String()
	eventually(t, "the output to be there", func() bool { return strings.Contains(f.call("GET", path+"/log", "").Body, "first") })
	goesOn := func() {
		_, err := f.store.UpdateRun(t.Context(), run.ID, uuid.Nil, func(r *environment.Run) error {
			title := "renamed"
			r.Title = &title
			return nil
		})
		if err == nil {
			err = f.store.AppendOutput(t.Context(), run.ID, uuid.Nil, []environment.LogChunk{{Stream: environment.Stdout, StreamOffset: 5, Data: []byte("second")}})
		}
		if err != nil {
			t.Error(err)
		}
	}
	f.store.beforeLog = func() { f.store.beforeLog = nil; goesOn() }
	page := f.page(f.call("GET", "/companies/"+f.company.String()+"/runs/"+run.ID.String(), ""))
	if text := page.Find("#output").Text(); !strings.Contains(text, "first") || strings.Contains(text, "second") {
		t.Errorf("the page shows %q, want what the stream does not bring", text)
	}
	address, _ := page.Find("[sse-connect]").Attr("sse-connect")
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	events := f.stream(path + "/events?after=" + u.Query().Get("after"))
	if e := events.next(); e.name != "state" {
		t.Errorf("the stream begins with %+v, want the change that the page does not show", e)
	}
	if e := events.next(); e.name != "output" || !strings.Contains(e.data, "second") {
		t.Errorf("the stream goes on with %+v, want the output that the page does not show", e)
	}
	f.driver.open()
}
