package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"berth/environment"

	"github.com/labstack/echo/v4"
)

// decodeBody reads a JSON body into the struct that into points at. It is
// strict: an unknown, repeated or wrongly typed key is a 400 that names it, and
// so is null where the field cannot be null. Pointers, maps and raw values can,
// optional values cannot.
func decodeBody(c echo.Context, into any) error {
	raw, err := readBody(c)
	if err != nil {
		return err
	}
	if len(raw) == 0 {
		return unreadable("body_missing", "Send a JSON object.")
	}
	return decodeStrict(raw, into)
}

// decodeOptionalBody is decodeBody where no body at all leaves into as it is.
func decodeOptionalBody(c echo.Context, into any) error {
	raw, err := readBody(c)
	if err != nil || len(raw) == 0 {
		return err
	}
	return decodeStrict(raw, into)
}

func readBody(c echo.Context) ([]byte, error) {
	r := c.Request()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		if isAnswer(err) {
			return nil, err
		}
		return nil, unreadable("body_cut", "The request body ended early.").Because(err)
	}
	if len(raw) == 0 {
		return nil, nil
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return nil, echo.NewHTTPError(http.StatusUnsupportedMediaType)
	}
	return raw, nil
}

// isAnswer reports whether what ended the reading of a body says why by itself: it
// was too long or late, or its sender may do this no more.
func isAnswer(err error) bool {
	_, tooLong := errors.AsType[*http.MaxBytesError](err)
	_, late := errors.AsType[*echo.HTTPError](err)
	_, ours := errors.AsType[*environment.Error](err)
	return tooLong || late || ours
}

func decodeStrict(raw []byte, into any) error {
	if !utf8.Valid(raw) {
		return unreadable("invalid_json", "The body is not UTF-8 text.")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	var value json.RawMessage
	if err := dec.Decode(&value); err != nil {
		return unreadable("invalid_json", "The body is not JSON.").Because(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return unreadable("invalid_json", "There is something after the JSON value.")
	}
	return decodeValue(value, reflect.ValueOf(into).Elem(), "", false)
}

// settable is an optional value: it knows that it was set.
type settable interface {
	set(raw json.RawMessage, path string) error
}

// decodeValue decodes one value of a body. nul allows NUL characters in text.
func decodeValue(raw json.RawMessage, into reflect.Value, path string, nul bool) error {
	if o, ok := into.Addr().Interface().(settable); ok {
		return o.set(raw, path)
	}
	isNull := string(raw) == "null"
	switch {
	case into.Type() == reflect.TypeFor[json.RawMessage]():
		into.SetBytes(bytes.Clone(raw))
		return nil
	case into.Kind() == reflect.Pointer:
		if isNull {
			return nil
		}
		into.Set(reflect.New(into.Type().Elem()))
		return decodeValue(raw, into.Elem(), path, nul)
	case isNull && into.Kind() == reflect.Map:
		return nil // an absent map, as encoders of nil maps write it
	case isNull:
		return unreadableField("invalid_body", path, "%s must not be null.", named(path))
	}
	if _, own := into.Addr().Interface().(json.Unmarshaler); !own {
		switch into.Kind() {
		case reflect.Struct:
			if _, text := into.Addr().Interface().(interface{ UnmarshalText([]byte) error }); !text {
				return decodeObject(raw, into, path)
			}
		case reflect.Map:
			return decodeMap(raw, into, path)
		case reflect.Slice:
			return decodeSlice(raw, into, path)
		}
	}
	if err := json.Unmarshal(raw, into.Addr().Interface()); err != nil {
		return unreadableField("invalid_body", path, "%s must be %s.", named(path), kindWord(into.Type())).Because(err)
	}
	if into.Kind() == reflect.String && !nul && strings.ContainsRune(into.String(), 0) {
		return unreadableField("invalid_body", path, "%s must not hold a NUL character.", named(path))
	}
	return nil
}

func decodeObject(raw json.RawMessage, into reflect.Value, path string) error {
	fields := make(map[string]reflect.StructField, into.NumField())
	for _, field := range reflect.VisibleFields(into.Type()) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			fields[name] = field
		}
	}
	return eachKey(raw, path, func(key string, value json.RawMessage) error {
		field, known := fields[key]
		if !known {
			return unreadableField("unknown_key", join(path, key), "%q is not a key of this request.", join(path, key))
		}
		return decodeValue(value, into.FieldByIndex(field.Index), join(path, key), field.Tag.Get("nul") == "ok")
	})
}

func decodeMap(raw json.RawMessage, into reflect.Value, path string) error {
	into.Set(reflect.MakeMap(into.Type()))
	return eachKey(raw, path, func(key string, value json.RawMessage) error {
		if strings.ContainsRune(key, 0) {
			return unreadableField("invalid_body", path, "A key of %s holds a NUL character.", named(path))
		}
		item := reflect.New(into.Type().Elem()).Elem()
		if err := decodeValue(value, item, join(path, key), false); err != nil {
			return err
		}
		into.SetMapIndex(reflect.ValueOf(key), item)
		return nil
	})
}

func decodeSlice(raw json.RawMessage, into reflect.Value, path string) error {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return unreadableField("invalid_body", path, "%s must be a list.", named(path)).Because(err)
	}
	into.Set(reflect.MakeSlice(into.Type(), len(items), len(items)))
	for i, item := range items {
		if err := decodeValue(item, into.Index(i), path+"["+strconv.Itoa(i)+"]", false); err != nil {
			return err
		}
	}
	return nil
}

// eachKey calls each with every key of a JSON object, in order. A repeated key
// is refused: readers disagree about which of the two counts.
func eachKey(raw json.RawMessage, path string, each func(string, json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return unreadableField("invalid_body", path, "%s must be an object.", named(path))
	}
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return unreadable("invalid_json", "The body is not JSON.").Because(err)
		}
		key, value := fmt.Sprint(token), json.RawMessage(nil)
		if seen[key] {
			return unreadableField("repeated_key", join(path, key), "%q is there twice.", join(path, key))
		}
		seen[key] = true
		if err := dec.Decode(&value); err != nil {
			return unreadable("invalid_json", "The body is not JSON.").Because(err)
		}
		if err := each(key, value); err != nil {
			return err
		}
	}
	return nil
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func named(path string) string {
	if path == "" {
		return "The body"
	}
	return path
}

func kindWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Array:
		return "a UUID"
	}
	return "of another type"
}

// optional is a value that a request may leave out but not set to null.
type optional[T any] struct {
	Set   bool
	Value T
}

func (o *optional[T]) set(raw json.RawMessage, path string) error {
	o.Set = true
	return decodeValue(raw, reflect.ValueOf(&o.Value).Elem(), path, false)
}

// pointer is nil for a value that was left out.
func (o optional[T]) pointer() *T {
	if !o.Set {
		return nil
	}
	return &o.Value
}

// nullable is a value that a request may leave out, or set to null.
type nullable[T any] struct {
	Set   bool
	Value *T // nil for null
}

func (n *nullable[T]) set(raw json.RawMessage, path string) error {
	n.Set, n.Value = true, nil
	if string(raw) == "null" {
		return nil
	}
	n.Value = new(T)
	return decodeValue(raw, reflect.ValueOf(n.Value).Elem(), path, false)
}

// noNUL refuses raw JSON that holds a NUL character, in a key or in a value:
// the database cannot store one.
func noNUL(field string, raw json.RawMessage) error {
	if !bytes.Contains(raw, []byte(`\u0000`)) {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := dec.Token()
		if err != nil {
			return nil // the end: what is no JSON was refused before
		}
		if text, ok := token.(string); ok && strings.ContainsRune(text, 0) {
			return environment.InvalidFields([]environment.FieldError{{Field: field, Message: "This cannot hold a NUL character."}})
		}
	}
}
