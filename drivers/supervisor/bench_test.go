package supervisor

import (
	"bufio"
	"context"
	"fmt"
	"io"
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
		var total time.Duration
		n := 0
		for b.Loop() {
			n++
			began := time.Now()
			var first time.Duration
			_, err := Exec(context.Background(), open, environment.Ref{Dir: "/tmp"}, environment.Exec{
				Marker: fmt.Sprintf("bench-%d", n), Argv: []string{"echo", "x"},
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
			total += first
		}
		b.ReportMetric(float64(total.Nanoseconds())/float64(n), "first-byte-ns/op")
	})
}
