//go:build bench

package bench

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// start measures process start to first answered page, the database being up
// and migrated, against the same of a program that serves one word.
func start(t *testing.T) []bar {
	url, dir := database(t), t.TempDir()
	word := oneWord(t)
	var ours, floor []time.Duration
	for i := range 6 {
		t.Run("", func(t *testing.T) { // ends the server before the next
			_, took := serve(t, url, dir)
			if i > 0 { // the first migrates
				ours = append(ours, took)
			}
		})
		floor = append(floor, word())
	}
	t.Logf("raw ours: %v floor: %v", ours, floor)
	slices.Sort(ours)
	slices.Sort(floor)
	o, f := median(ours), median(floor)
	return []bar{{"start, database up", ms(o), ms(f), ratio(float64(o), float64(f)), "<= 400 ms", o <= 400*time.Millisecond}}
}

// oneWord builds a server of one word and returns a function that times its
// start to the first answer.
func oneWord(t *testing.T) func() time.Duration {
	t.Helper()
	dir := t.TempDir()
	source := `package main

import ("net/http"; "os")

func main() {
	_ = http.ListenAndServe(os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>w</title><link rel=icon href=data:,><p>word"))
	}))
}
`
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "word")
	if out, err := exec.Command("go", "build", "-o", bin, filepath.Join(dir, "main.go")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return func() time.Duration {
		addr := freePort(t)
		began := time.Now()
		cmd := exec.Command(bin, addr)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}()
		for {
			res, err := http.Get("http://" + addr)
			if err == nil {
				_ = res.Body.Close()
				return time.Since(began)
			}
			if time.Since(began) > 10*time.Second {
				t.Fatal(err)
			}
		}
	}
}

// memory measures the server at rest: ten environments, one probe and a page
// behind it, and ten quiet seconds.
func memory(t *testing.T) []bar {
	s, _ := serve(t, database(t), t.TempDir())
	s.furnish(t)
	for i := range 10 {
		s.environment(t, fmt.Sprintf("e%d", i), map[string]any{"host": "127.0.0.1", "port": 1, "username": "nobody", "remoteWorkspacePath": "/tmp/w"})
	}
	s.call(t, "GET", "/api/companies/"+s.company+"/environments", nil, nil, 200)
	res, err := http.Get(s.url + "/company/settings/instance/environments")
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	<-time.After(10 * time.Second)
	kb := s.rss(t)
	return []bar{{"memory at rest", fmt.Sprintf("%.1f MB", float64(kb)/1024), "744 MB (Paperclip)", ratio(float64(kb)/1024, 744), "<= 45 MB", kb <= 45*1024}}
}

// serveWord serves one word in this process, for the page's floor.
func serveWord(t *testing.T, body []byte, contentType string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(body)
	})}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return "http://" + l.Addr().String()
}
