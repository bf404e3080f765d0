//go:build bench

package bench

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"
)

const word = "<!doctype html><html lang=en><title>w</title><link rel=icon href=data:,><p>word"

// load is one first load in a new browser context.
type load struct {
	Paint    float64 // ms
	Bytes    float64 // over the wire, all requests
	Requests int
	Shift    float64
}

// pageLoad measures the first load of the Environments page with 200 rows.
func pageLoad(t *testing.T) []bar {
	s, _ := serve(t, database(t), t.TempDir())
	s.furnish(t)
	s.many(t, 200)
	browser := chromium(t)
	plain := serveWord(t, []byte(word), "text/html; charset=utf-8")
	url := s.url + "/company/settings/instance/environments"
	var ours, floor []float64
	var last load
	for i := range 9 {
		o, f := open(t, browser, url), open(t, browser, plain)
		if i == 0 { // the browser warms up
			continue
		}
		last = o
		ours, floor = append(ours, o.Paint), append(floor, f.Paint)
	}
	t.Logf("raw first paints: ours %v word %v; last %+v", ours, floor, last)
	o, f := slices.Min(ours), slices.Min(floor)
	p95 := serverTime(t, url)
	return []bar{
		{"page, first paint", fmt.Sprintf("%.0f ms", o), fmt.Sprintf("%.0f ms (one word)", f), ratio(o, f), "<= word + 170 ms", o <= f+170},
		{"page, bytes in all", fmt.Sprintf("%.1f KB", last.Bytes/1024), "9.1 MB (Paperclip)", ratio(last.Bytes, 9.1*(1<<20)), "<= 60 KB", last.Bytes <= 60*1024},
		{"page, requests", fmt.Sprint(last.Requests), "69 (Paperclip)", ratio(float64(last.Requests), 69), "<= 6", last.Requests <= 6},
		{"page, layout shift", fmt.Sprintf("%.4f", last.Shift), "0", "-", "0", last.Shift == 0},
		{"page, server p95 at 2 clients", ms(p95), "-", "-", "<= 15 ms", p95 <= 15*time.Millisecond},
	}
}

func chromium(t *testing.T) playwright.Browser {
	t.Helper()
	cache := os.Getenv("BERTH_TEST_CACHE")
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(dir, "berth")
	}
	pw, err := playwright.Run(&playwright.RunOptions{DriverDirectory: filepath.Join(cache, "playwright-1.52.0"), SkipInstallBrowsers: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pw.Stop(); err != nil {
			t.Error(err)
		}
	})
	browser, err := pw.Chromium.Launch(playwright.BrowserTypeLaunchOptions{
		ExecutablePath: playwright.String("/usr/bin/chromium"),
		Args: []string{"--no-sandbox", "--disable-quic", "--disable-background-networking", "--disable-component-update",
			"--disable-sync", "--no-first-run"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return browser
}

// open loads a url with an empty cache and reads the browser's own figures.
func open(t *testing.T, browser playwright.Browser, url string) load {
	t.Helper()
	page, err := browser.NewPage()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := page.Close(); err != nil {
			t.Error(err)
		}
	}()
	var requests int
	page.OnRequest(func(r playwright.Request) {
		if r.URL()[:5] != "data:" {
			requests++
		}
	})
	if _, err := page.Goto(url); err != nil {
		t.Fatal(err)
	}
	out, err := page.Evaluate(`() => new Promise(done => {
		let shift = 0;
		new PerformanceObserver(list => { for (const e of list.getEntries()) shift += e.value; }).observe({type: 'layout-shift', buffered: true});
		new PerformanceObserver(() => requestAnimationFrame(() => {
			if (!performance.getEntriesByName('first-contentful-paint').length) return;
			const all = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
			done(JSON.stringify({
				Paint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
				Bytes: all.reduce((n, e) => n + e.transferSize, 0),
				Shift: shift,
			}));
		})).observe({type: 'paint', buffered: true});
	})`)
	if err != nil {
		t.Fatal(err)
	}
	var l load
	if err := json.Unmarshal([]byte(out.(string)), &l); err != nil {
		t.Fatal(err)
	}
	l.Requests = requests
	return l
}

// serverTime is the 95th percentile of 200 loads by two clients at once.
func serverTime(t *testing.T, url string) time.Duration {
	t.Helper()
	var mu sync.Mutex
	var all []time.Duration
	var clients sync.WaitGroup
	for range 2 {
		clients.Go(func() {
			for range 100 {
				took, err := loadTime(url)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				all = append(all, took)
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	slices.Sort(all)
	return percentile(all, 95)
}

// loadTime is how long a page takes to its end.
func loadTime(url string) (time.Duration, error) {
	began := time.Now()
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Accept-Encoding", "gzip, deflate, br") // a browser's
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	if err := drain(res); err != nil {
		return 0, err
	}
	return time.Since(began), nil
}
