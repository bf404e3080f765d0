package api

import (
	"encoding/json"
	"testing"
	"time"
)

func TestTime(t *testing.T) {
	zone := time.FixedZone("east", 2*60*60)
	tests := []struct {
		name string
		in   time.Time
		want string
	}{
		{"UTC", time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC), `"2026-05-04T12:00:00.000Z"`},
		{"another zone", time.Date(2026, 5, 4, 12, 0, 0, 7_999_999, zone), `"2026-05-04T10:00:00.007Z"`},
		{"none", time.Time{}, `null`},
	}
	for _, tt := range tests {
		got, err := json.Marshal(Time(tt.in))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.name, got, err, tt.want)
		}
		var back Time
		if err := json.Unmarshal(got, &back); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if !time.Time(back).Equal(tt.in.Truncate(time.Millisecond)) {
			t.Errorf("%s came back as %s", tt.name, time.Time(back))
		}
	}
	if TimePtr(nil) != nil {
		t.Error("no time is not nil")
	}
	var bad Time
	if err := json.Unmarshal([]byte(`"yesterday"`), &bad); err == nil {
		t.Error("yesterday is a time")
	}
}
