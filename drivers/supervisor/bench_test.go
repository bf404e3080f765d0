package supervisor

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"testing"
	"time"

	"berth/drivers/shell"
	"berth/environment"
)

// BenchmarkFirstByte measures the time to the first byte of output: of a bare
// session, and of the supervisor above it.
func BenchmarkFirstByte(b *testing.B) {
	open := shell.Process("/bin/sh", []string{"PATH=/usr/bin:/bin", "HOME=" + b.TempDir()})
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			s, err := open(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			script := "echo x\n"
			if _, err := io.WriteString(s, strconv.Itoa(len(script))+"\n"+script); err != nil {
				b.Fatal(err)
			}
			if _, err := bufio.NewReader(s.Stdout()).ReadByte(); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
	b.Run("supervised", func(b *testing.B) {
		var firsts, greets []time.Duration
		for b.Loop() {
			began := time.Now()
			var first time.Duration
			var greeted time.Duration
			_, err := Exec(context.Background(), open, environment.Ref{Dir: "/tmp"}, environment.Exec{
				Marker: fmt.Sprintf("bench-%d", len(firsts)), Argv: []string{"echo", "x"},
				OnStart: func(environment.Process, environment.HostFacts, string) error {
					greeted = time.Since(began)
					return nil
				},
				Output: func(environment.Stream, int64, []byte) error {
					if first == 0 {
						first = time.Since(began)
					}
					return nil
				},
			})
			if err != nil {
				b.Fatal(err)
			}
			greets = append(greets, greeted)
			firsts = append(firsts, first)
		}
		slices.Sort(firsts)
		slices.Sort(greets)
		b.ReportMetric(float64(greets[len(greets)/2].Nanoseconds()), "median-start-ns")
		b.ReportMetric(float64(firsts[len(firsts)/2].Nanoseconds()), "median-first-byte-ns")
	})
}
