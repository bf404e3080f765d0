package ui

import (
	"strings"
	"testing"
	"time"
)

func TestAgoAndMillisInWords(t *testing.T) {
	now := time.Date(2026, 9, 14, 10, 30, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		-time.Second: "just now", 9 * time.Second: "just now", 10 * time.Second: "10 s ago", 59 * time.Second: "59 s ago",
		time.Minute: "1 min ago", 59 * time.Minute: "59 min ago", time.Hour: "1 h ago", 47 * time.Hour: "47 h ago",
		48 * time.Hour: "2 days ago", 59 * 24 * time.Hour: "59 days ago", 60 * 24 * time.Hour: "16 Jul 2026",
	} {
		if got := Ago(now.Add(-d), now); got != want {
			t.Errorf("%s ago is %q, want %q", d, got, want)
		}
	}
	for ms, want := range map[int64]string{0: "0 ms", 999: "999 ms", 1900: "1.9 s", 60_000: "1 min", 123_000: "2 min 3 s", 3_600_000: "1 h", 5_400_000: "1 h 30 min"} {
		if got := Millis(ms); got != want {
			t.Errorf("Millis(%d) = %q, want %q", ms, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 3 << 20: "3.0 MiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

// What is said just after a deadline was set is the time that was set.
func TestLeftIsToTheNearest(t *testing.T) {
	now := time.Date(2026, 9, 14, 10, 30, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		-time.Second: "no time", 0: "no time", 59 * time.Second: "less than a minute", time.Minute: "1 minute", 89 * time.Second: "1 minute", 90 * time.Second: "2 minutes",
		time.Hour - time.Second: "1 hour", 24*time.Hour - time.Second: "24 hours", 36*time.Hour + 20*time.Minute: "36 hours",
		48*time.Hour - time.Second: "2 days", 59 * time.Hour: "2 days", 7*24*time.Hour - time.Second: "7 days", 90*24*time.Hour - time.Minute: "90 days",
	} {
		if got := Left(now.Add(d), now); got != want {
			t.Errorf("%s ahead is %q, want %q", d, got, want)
		}
	}
}

func TestSparklineBarsStayWithinTheirBox(t *testing.T) {
	p := SparkProps{Marks: []Mark{{Value: 0}, {Value: 10}, {Value: 1000}, {Value: 5, Bad: true}}}
	for i, want := range []int{3, 3, sparkHeight, sparkHeight} {
		if got := p.bar(p.Marks[i]); got != want {
			t.Errorf("bar %d is %d high, want %d", i, got, want)
		}
	}
	if good := strings.Count(p.path(false), "M"); good != 3 {
		t.Errorf("%d good bars, want 3", good)
	}
	if bad := p.path(true); !strings.HasPrefix(bad, "M18 0") {
		t.Errorf("the bad bar is %q", bad)
	}
}

func TestFieldNamesItsHelpAndItsError(t *testing.T) {
	var b strings.Builder
	err := Field(FieldProps{Name: "config.host", Label: "Host", Help: "A name.", Error: "Enter a host.", Required: true}).Render(t.Context(), &b)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`for="f-config-host"`, `id="f-config-host"`, `aria-describedby="f-config-host-help f-config-host-err"`,
		`aria-invalid="true"`, `aria-required="true"`, `<p class="err" id="f-config-host-err">Enter a host.</p>`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is not in %s", want, b.String())
		}
	}
}
