package cli_test

import (
	"io"
	"net/http"
	"testing"
)

// forward sends a request on to another server.
func forward(r *http.Request, base string) (*http.Response, error) {
	out, err := http.NewRequestWithContext(r.Context(), r.Method, base+r.URL.RequestURI(), r.Body)
	if err != nil {
		return nil, err
	}
	out.Header = r.Header.Clone()
	return http.DefaultClient.Do(out)
}

func copyAnswer(t *testing.T, w http.ResponseWriter, resp *http.Response) {
	defer func() { _ = resp.Body.Close() }()
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	if _, err := io.Copy(w, resp.Body); err != nil {
		t.Errorf("copy an answer: %v", err)
	}
}
