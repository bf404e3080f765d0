package ui

import (
	"fmt"
	"strconv"
	"time"
)

// Date is a moment in full.
func Date(at time.Time) string { return at.UTC().Format("2 Jan 2006, 15:04:05 UTC") }

// Ago is how long a moment is past, in words; a moment to come is "just now".
func Ago(at, now time.Time) string {
	d := now.Sub(at)
	switch {
	case d < 10*time.Second:
		return "just now"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s ago"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min ago"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h ago"
	case d < 60*24*time.Hour:
		return strconv.Itoa(int(d.Hours()/24)) + " days ago"
	}
	return at.UTC().Format("2 Jan 2006")
}

// Left is how long a moment is ahead, in words, to the nearest minute, hour or
// day; "no time" when it is past.
func Left(at, now time.Time) string {
	d := at.Sub(now)
	switch {
	case d <= 0:
		return "no time"
	case d < time.Minute:
		return "less than a minute"
	}
	if d = d.Round(time.Minute); d < time.Hour {
		return Count(int(d/time.Minute), "minute", "minutes")
	}
	if d = d.Round(time.Hour); d < 48*time.Hour {
		return Count(int(d/time.Hour), "hour", "hours")
	}
	const day = 24 * time.Hour
	return Count(int(d.Round(day)/day), "day", "days")
}

// Millis is a duration as people say it: "184 ms", "1.9 s", "2 min 3 s".
func Millis(ms int64) string {
	switch {
	case ms < 1000:
		return strconv.FormatInt(ms, 10) + " ms"
	case ms < 60_000:
		return strconv.FormatFloat(float64(ms)/1000, 'f', 1, 64) + " s"
	case ms < 3_600_000:
		return two(ms/60_000, "min", ms%60_000/1000, "s")
	}
	return two(ms/3_600_000, "h", ms%3_600_000/60_000, "min")
}

// two joins two units; a zero of the smaller one is left out.
func two(large int64, unit string, small int64, smaller string) string {
	if small == 0 {
		return fmt.Sprintf("%d %s", large, unit)
	}
	return fmt.Sprintf("%d %s %d %s", large, unit, small, smaller)
}

// Bytes is a size as people say it.
func Bytes(n int64) string {
	switch {
	case n < 1024:
		return strconv.FormatInt(n, 10) + " B"
	case n < 1<<20:
		return strconv.FormatFloat(float64(n)/1024, 'f', 1, 64) + " KiB"
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MiB"
}

// Count is a number with its noun: "1 run", "2 runs".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
