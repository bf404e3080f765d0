package environment

import "strings"

// CleanText makes text that came from a target fit to be stored and shown:
// what is not UTF-8, and NUL, become U+FFFD.
func CleanText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// CleanValues does the same to every text in a decoded JSON value.
func CleanValues(value any) any {
	switch v := value.(type) {
	case string:
		return CleanText(v)
	case []string:
		out := make([]string, len(v))
		for i := range v {
			out[i] = CleanText(v[i])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = CleanValues(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[CleanText(k)] = CleanValues(item)
		}
		return out
	}
	return value
}
