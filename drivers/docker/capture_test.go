package docker_test

import (
	"slices"
	"testing"

	"berth/drivers/docker"
	"berth/environment"
)

// TestWhatIsMadeOfACaptureIsNotOurs: a container of somebody else's inherits the
// labels of its image, and must not pass for a sandbox.
func TestWhatIsMadeOfACaptureIsNotOurs(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	d := driver(t, docker.Options{})
	spec := specOf(t, e, e.Busybox(t))
	ref := acquire(t, d, spec)
	image, err := d.Capture(t.Context(), ref, environment.CaptureRequest{Key: `a "quoted" key\`, Labels: map[string]string{"team": "a b"}})
	if err != nil {
		t.Fatal(err)
	}
	id := e.Create(t, image.ImageID, nil)
	c := inspected(t, e, id)
	if c.Config.Labels["team"] != "a b" || c.Config.Labels["berth.image.key"] != `a "quoted" key\` || c.Config.Labels["berth.image.instance"] != spec.InstanceID.String() {
		t.Errorf("labels: %v", c.Config.Labels)
	}
	held, err := d.List(t.Context(), spec)
	if err != nil || len(held) != 1 || held[0].ProviderID != ref.ProviderID {
		t.Errorf("listed: got %+v, %v, want our own alone", held, err)
	}
	committed := e.Commit(t, ref.ProviderID)
	copied := e.Create(t, committed, nil)
	own := e.Create(t, committed, map[string]string{"berth.lease": environment.NewID().String()})
	held, err = d.List(t.Context(), spec)
	if err != nil || len(held) != 2 || slices.ContainsFunc(held, func(h environment.Held) bool { return h.ProviderID == copied }) {
		t.Errorf("listed beside a copy by hand: got %+v, %v, want our own and %s", held, err, own)
	}
	e.Remove(t, copied)
	e.Remove(t, own)
	if err := d.DeleteImage(t.Context(), spec, image); environment.CodeOf(err) != "image_in_use" {
		t.Errorf("delete while it is used: got %v", err)
	}
	e.Remove(t, id)
	if err := d.DeleteImage(t.Context(), spec, image); err != nil {
		t.Errorf("delete: %v", err)
	}
	if err := d.DeleteImage(t.Context(), spec, *ref.Image); environment.KindOf(err) != environment.KindForbidden || e.ImageID(t, e.Busybox(t)) == "" {
		t.Errorf("delete an image that was not captured: got %v", err)
	}
}

// TestStagesAreTold follows an acquisition of a probe.
func TestStagesAreTold(t *testing.T) {
	t.Parallel()
	e := shared.Engine(t)
	spec := specOf(t, e, e.Busybox(t))
	var told []string
	spec.OwnerKind = environment.OwnerProbe
	spec.Report = func(s environment.Stage) {
		told = append(told, s.Name+" "+string(s.Status))
		if s.Status == environment.StageOK && (s.Message == "" || len(s.Measured) == 0 || s.StartedAt == nil) {
			t.Errorf("the stage says too little: %+v", s)
		}
	}
	acquire(t, driver(t, docker.Options{}), spec)
	var want []string
	for _, name := range environment.DockerStages()[:4] {
		want = append(want, name+" running", name+" ok")
	}
	if !slices.Equal(told, want) {
		t.Errorf("got  %v\nwant %v", told, want)
	}
}
