package environment_test

import (
	"reflect"
	"testing"

	"berth/environment"
)

func TestCleanText(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "é\n\t€": "é\n\t€", "a\x00b": "a\uFFFDb", "a\xffb": "a\uFFFDb", "cut \xe2\x82": "cut \uFFFD",
	} {
		if got := environment.CleanText(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestCleanValues(t *testing.T) {
	in := map[string]any{"a\x00": "b\xff", "list": []any{"c\x00", 1}, "texts": []string{"\xff"}, "deep": map[string]any{"x": "\x00"}, "n": 1.5, "none": nil}
	want := map[string]any{"a\uFFFD": "b\uFFFD", "list": []any{"c\uFFFD", 1}, "texts": []string{"\uFFFD"}, "deep": map[string]any{"x": "\uFFFD"}, "n": 1.5, "none": nil}
	if got := environment.CleanValues(in); !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
}
