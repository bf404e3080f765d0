package environmenttest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Fingerprint is a hash of every row but the activity log's. Two that are equal
// say that nothing was changed in between; when somebody was last seen, or a key
// last used, is no change.
func (s *Store) Fingerprint() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	hash := sha256.New()
	store := reflect.ValueOf(s).Elem()
	for field, value := range store.Fields() {
		switch field.Name {
		case "now", "mu", "activity", "readers":
		default:
			trace(hash, value)
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// trace tells a value apart from others of its type.
func trace(w io.Writer, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			_, _ = io.WriteString(w, "nil ") // a hash takes everything
			return
		}
		trace(w, v.Elem())
	case reflect.Struct:
		traceStruct(w, v)
	case reflect.Map:
		entries := []string{}
		for key, value := range v.Seq2() {
			var b strings.Builder
			trace(&b, key)
			trace(&b, value)
			entries = append(entries, b.String())
		}
		slices.Sort(entries)
		_, _ = fmt.Fprintf(w, "%q ", entries)
	case reflect.Slice, reflect.Array:
		_, _ = fmt.Fprintf(w, "%d:", v.Len())
		if v.Type().Elem().Kind() == reflect.Uint8 {
			raw := make([]byte, v.Len())
			for i := range raw {
				raw[i] = byte(v.Index(i).Uint())
			}
			_, _ = w.Write(raw)
			return
		}
		for i := range v.Len() {
			trace(w, v.Index(i))
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
	default:
		_, _ = fmt.Fprintf(w, "%v ", v)
	}
}

func traceStruct(w io.Writer, v reflect.Value) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		_, _ = fmt.Fprintf(w, "%v %v ", v.Field(0), v.Field(1))
		return
	}
	for field, value := range v.Fields() {
		if field.Name != "LastUsedAt" && field.Name != "LastSeenAt" {
			trace(w, value)
		}
	}
}
