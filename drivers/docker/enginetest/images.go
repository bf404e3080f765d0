package enginetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Busybox is an image of static tools, in which there is no libc.
func (e *Engine) Busybox(t testing.TB) string {
	return e.image(t, "busybox", tools, `CMD ["/bin/sh"]`)
}

// Musl is Busybox with musl's loader and its ldd.
func (e *Engine) Musl(t testing.TB) string { return e.image(t, "musl", musl, `CMD ["/bin/sh"]`) }

// Glibc has this machine's glibc, with sh, getconf and ldd of it.
func (e *Engine) Glibc(t testing.TB) string { return e.image(t, "glibc", glibc, `CMD ["/bin/sh"]`) }

// NonRoot is Busybox of user 1000, "agent", with a home.
func (e *Engine) NonRoot(t testing.TB) string {
	return e.image(t, "nonroot", tools, "USER 1000:1000", "WORKDIR /home/agent", `CMD ["/bin/sh"]`)
}

// NoShell has one static program, /bin/sleep.
func (e *Engine) NoShell(t testing.TB) string {
	return e.image(t, "noshell", sleepOnly, `CMD ["/bin/sleep", "100000"]`)
}

// Slow is Busybox with a health check that succeeds first after a time.
func (e *Engine) Slow(t testing.TB, after time.Duration) string {
	check := fmt.Sprintf("HEALTHCHECK --interval=1s --timeout=%ds --start-period=1h CMD sleep %g", int(after.Seconds())+60, after.Seconds())
	return e.image(t, "slow"+strings.ReplaceAll(after.String(), ".", "_"), tools, check, `CMD ["/bin/sh"]`)
}

// Unhealthy is Busybox with a health check that fails, and at once so.
func (e *Engine) Unhealthy(t testing.TB) string {
	return e.image(t, "unhealthy", tools, "HEALTHCHECK --interval=1s --timeout=5s --retries=1 CMD false", `CMD ["/bin/sh"]`)
}

// Variant is Busybox with other content, and so with another id and digest than
// that of any other name.
func (e *Engine) Variant(t testing.TB, name string) string {
	return e.image(t, "variant-"+name, func(a *archive) { tools(a); a.file("etc/variant", 0o644, []byte(name)) }, `CMD ["/bin/sh"]`)
}

// image makes an image once for each engine and returns its reference, which no
// registry knows.
func (e *Engine) image(t testing.TB, name string, fill func(*archive), changes ...string) string {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if ref, ok := e.images[name]; ok {
		return ref
	}
	a := newArchive()
	fill(a)
	content, err := a.close()
	if err != nil {
		t.Fatalf("make the image %s: %v", name, err)
	}
	ref := "localhost/berth/" + name + ":1"
	query := url.Values{"fromSrc": {"-"}, "repo": {ref}, "changes": changes}
	text, err := e.call(http.MethodPost, "/v1.41/images/create", query, http.Header{"Content-Type": {"application/x-tar"}}, bytes.NewReader(content), nil)
	if err == nil {
		err = streamed(text, nil)
	}
	if err != nil {
		t.Fatalf("import the image %s: %v", name, err)
	}
	e.images[name] = ref
	return ref
}

// ImageID is the engine's id of an image, "" when it has none of that name.
func (e *Engine) ImageID(t testing.TB, ref string) string {
	t.Helper()
	var image struct {
		ID string `json:"Id"`
	}
	_, err := e.call(http.MethodGet, "/v1.41/images/"+ref+"/json", nil, nil, nil, &image)
	if isStatus(err, http.StatusNotFound) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return image.ID
}

// Pull has the engine fetch an image from a Registry that lets everybody in.
func (e *Engine) Pull(t testing.TB, ref string) {
	t.Helper()
	text, err := e.call(http.MethodPost, "/v1.41/images/create", url.Values{"fromImage": {ref}}, nil, nil, nil)
	if err == nil {
		err = streamed(text, nil)
	}
	if err != nil {
		t.Fatalf("pull %s: %v", ref, err)
	}
}

// Tag gives an image another name, "repository:tag".
func (e *Engine) Tag(t testing.TB, image, name string) {
	t.Helper()
	if err := e.tag(image, name); err != nil {
		t.Fatal(err)
	}
}

func (e *Engine) tag(image, name string) error {
	at := strings.LastIndexByte(name, ':')
	query := url.Values{"repo": {name[:at]}, "tag": {name[at+1:]}}
	_, err := e.call(http.MethodPost, "/v1.41/images/"+image+"/tag", query, nil, nil, nil)
	return err
}

// Untag takes a name or digest from the engine, and the image when it was the
// last one. What is gone is no error.
func (e *Engine) Untag(t testing.TB, ref string) {
	t.Helper()
	var removed []json.RawMessage
	_, err := e.call(http.MethodDelete, "/v1.41/images/"+ref, url.Values{"force": {"1"}}, nil, nil, &removed)
	if err != nil && !isStatus(err, http.StatusNotFound) {
		t.Fatal(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for name, made := range e.images {
		if made == ref {
			delete(e.images, name)
		}
	}
}
