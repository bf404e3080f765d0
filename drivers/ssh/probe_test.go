package ssh_test

import (
	"testing"

	"berth/drivers/ssh/sshdtest"
)

func TestProbe_AllStagesPass(t *testing.T) {
	s := sshdtest.Start(t, sshdtest.Config{})
	d := newDriver(t)
	r := probe(t, d, specOf(t, d, settings(s, map[string]any{"requiredTools": []string{"sh", "ls"}})))
	mustPass(t, r)
	t.Log(stageList(r))
	t.Log(r.Summary, *r.Host, *r.Platform)
}
