package docker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"berth/drivers/settings"
)

// fields reads a config as sent. What is unset is zero.
type fields struct{ *settings.Reader }

// text reads a string without the blanks around it; "" when it is absent or
// refused.
func (f *fields) text(key string, limit int) string { return strings.TrimSpace(f.Text(key, limit)) }

// choice reads one of several words.
func (f *fields) choice(key string, words ...string) string {
	text := f.text(key, 255)
	if text != "" && !slices.Contains(words, text) {
		f.Refuse(key, "Choose one of "+strings.Join(words, ", ")+".")
	}
	return text
}

// number reads a whole number.
func (f *fields) number(key string, least, most int) int64 {
	return int64(f.Number(key, 0, least, most))
}

// decimal reads a number.
func (f *fields) decimal(key string, least, most float64) float64 {
	text := f.Scalar(key)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= least && n <= most) {
		f.Refuse(key, fmt.Sprintf("This is a number from %g to %g.", least, most))
		return 0
	}
	return n
}
