package ssh_test

import (
	"slices"
	"testing"
	"time"

	"berth/drivers/ssh/sshdtest"
	"berth/environment"

	gossh "golang.org/x/crypto/ssh"
)

// BenchmarkProbe compares a whole probe with the least that proves a login: a
// bare dial, authentication and one command, in turns against the same sshd.
func BenchmarkProbe(b *testing.B) {
	s := sshdtest.Start(b, sshdtest.Config{})
	d := newDriver(b)
	spec := specOf(b, d, settings(s, nil))
	bare := func() {
		client, err := gossh.Dial("tcp", s.Addr(), bareConfig(b, s))
		if err != nil {
			b.Fatal(err)
		}
		session, err := client.NewSession()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := session.Output("true"); err != nil {
			b.Fatal(err)
		}
		_ = client.Close()
	}
	whole := func() {
		if r := d.Probe(b.Context(), spec, func(environment.Stage) {}); !r.OK {
			b.Fatal(r.Summary)
		}
	}
	compare(b, bare, whole)
}

// BenchmarkRunStart compares what a run needs before its first byte, on a pooled
// connection, with one new session on an open connection.
func BenchmarkRunStart(b *testing.B) {
	s := sshdtest.Start(b, sshdtest.Config{})
	d := newDriver(b)
	spec := specOf(b, d, settings(s, nil))
	ref, err := d.Acquire(b.Context(), spec)
	if err != nil {
		b.Fatal(err)
	}
	client, err := gossh.Dial("tcp", s.Addr(), bareConfig(b, s))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	bare := func() {
		session, err := client.NewSession()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := session.Output("echo x"); err != nil {
			b.Fatal(err)
		}
	}
	var first time.Duration
	var acquires []time.Duration
	whole := func() {
		started := time.Now()
		if ref, err = d.Acquire(b.Context(), spec); err != nil {
			b.Fatal(err)
		}
		acquires = append(acquires, time.Since(started))
		e := command(new(output), "echo", "x")
		e.Output = func(environment.Stream, int64, []byte) error {
			first = time.Since(started)
			return nil
		}
		if _, err := d.Exec(b.Context(), ref, e); err != nil {
			b.Fatal(err)
		}
	}
	var floors, ours []time.Duration
	for b.Loop() {
		floors = append(floors, timed(bare))
		whole()
		ours = append(ours, first)
	}
	floor, our := median(floors), median(ours)
	b.ReportMetric(float64(floor.Microseconds())/1000, "floor-ms")
	b.ReportMetric(float64(our.Microseconds())/1000, "first-byte-ms")
	b.ReportMetric(float64(median(acquires).Microseconds())/1000, "acquire-ms")
	b.ReportMetric(float64((our-floor).Microseconds())/1000, "added-ms")
}

// compare runs both in turns and reports the medians and their ratio.
func compare(b *testing.B, bare, whole func()) {
	b.Helper()
	var floors, ours []time.Duration
	for b.Loop() {
		floors = append(floors, timed(bare))
		ours = append(ours, timed(whole))
	}
	floor, our := median(floors), median(ours)
	b.ReportMetric(float64(floor.Microseconds())/1000, "floor-ms")
	b.ReportMetric(float64(our.Microseconds())/1000, "ours-ms")
	b.ReportMetric(float64(our)/float64(floor), "ratio")
}

func timed(work func()) time.Duration {
	started := time.Now()
	work()
	return time.Since(started)
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// bareConfig logs in with the one key, to the one host key.
func bareConfig(b *testing.B, s *sshdtest.Server) *gossh.ClientConfig {
	b.Helper()
	signer, err := gossh.ParsePrivateKey([]byte(s.PrivateKey))
	if err != nil {
		b.Fatal(err)
	}
	key, _, _, _, err := gossh.ParseAuthorizedKey([]byte(s.HostKey("ed25519")))
	if err != nil {
		b.Fatal(err)
	}
	return &gossh.ClientConfig{
		User: s.User, Auth: []gossh.AuthMethod{gossh.PublicKeys(signer)},
		HostKeyAlgorithms: []string{gossh.KeyAlgoED25519}, HostKeyCallback: gossh.FixedHostKey(key),
	}
}
