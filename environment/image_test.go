package environment_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"berth/environment"
)

func TestC39_C40_ImagesKeepTheirText(t *testing.T) {
	digest := "sha256:" + strings.Repeat("ab", 32)
	for _, c := range []struct {
		text string
		want environment.Image
	}{
		{"registry.test:5000/team/app@" + digest, environment.Image{Registry: "registry.test:5000", Repository: "team/app", Digest: digest}},
		{"registry.test:5000/team/app:1.2@" + digest, environment.Image{Registry: "registry.test:5000", Repository: "team/app", Tag: "1.2", Digest: digest}},
		{"busybox", environment.Image{Registry: "docker.io", Repository: "library/busybox"}},
		{"app:Latest", environment.Image{Registry: "docker.io", Repository: "library/app", Tag: "Latest"}},
		{"localhost/app:1", environment.Image{Registry: "localhost", Repository: "app", Tag: "1"}},
	} {
		got, problem := environment.ParseImage(c.text)
		c.want.Text = c.text
		if problem != "" || got != c.want {
			t.Errorf("ParseImage(%q) = %+v, %q; want %+v", c.text, got, problem, c.want)
		}
		if got.Pinned() != (c.want.Digest != "") {
			t.Errorf("%q: pinned %v", c.text, got.Pinned())
		}
	}
}

func TestC42_BadImagesAreRefusedWithTheReason(t *testing.T) {
	for text, says := range map[string]string{
		"Team/App:1": "lower case", "app:" + strings.Repeat("a", 129): "128", "app:": "colon", "app@": "@",
		"app:v1+build": "tag", "https://registry.test/app:1": "scheme", "app@sha256:abc": "digest",
		"app@sha256:" + strings.Repeat("AB", 32): "lower case", "team//app": "slashes", "a..b": "single", "": "Enter",
		"a b": "blanks", strings.Repeat("a", 300): "255",
	} {
		if got, problem := environment.ParseImage(text); !strings.Contains(problem, says) {
			t.Errorf("ParseImage(%q) = %+v, %q; want a problem with %q", text, got, problem, says)
		}
	}
	for text, saved := range map[string]string{
		" app:1 ": "app:1", "app:" + strings.Repeat("a", 128): "app:" + strings.Repeat("a", 128),
		"app@sha512:" + strings.Repeat("cd", 64): "app@sha512:" + strings.Repeat("cd", 64),
	} {
		if got, problem := environment.ParseImage(text); problem != "" || got.Text != saved {
			t.Errorf("ParseImage(%q) = %q, %q; want %q", text, got.Text, problem, saved)
		}
	}
}

// FuzzParseImage: whatever is read is text that reads the same again.
func FuzzParseImage(f *testing.F) {
	for _, seed := range []string{"busybox", "registry.test:5000/team/app:1.2@sha256:" + strings.Repeat("ab", 32), "https://x/y", "Team/App", "a..b", " a:1 ", "a@", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		image, problem := environment.ParseImage(text)
		if problem != "" {
			if image != (environment.Image{}) || !utf8.ValidString(problem) {
				t.Fatalf("ParseImage(%q) = %+v beside the problem %q", text, image, problem)
			}
			return
		}
		again, problem := environment.ParseImage(image.Text)
		if problem != "" || again != image {
			t.Fatalf("%q reads as %+v, then as %+v, %q", text, image, again, problem)
		}
		if strings.Contains(image.Text, ":sha256:") && !strings.Contains(text, ":sha256:") {
			t.Fatalf("%q became %q", text, image.Text)
		}
	})
}
