package configschema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"berth/environment"
)

// Roles of a config's keys: what a change of one means.
const (
	RoleImage   = "image"
	RoleTarget  = "target"
	RoleAccount = "account"
	RoleRuntime = "runtime"
)

// Types of a field.
const (
	TypeString  = "string"
	TypeInteger = "integer"
	TypeNumber  = "number"
	TypeBoolean = "boolean"
	TypeMap     = "map"
	TypeList    = "list"
	TypeUnion   = "union"
)

// readFields reads the properties of a schema in the order of a form.
func readFields(raw json.RawMessage) ([]environment.ConfigField, error) {
	var r reader
	if err := json.Unmarshal(raw, &r.root); err != nil {
		return nil, err
	}
	if len(r.root.Type) > 0 && !slices.Equal(r.root.Type, types{"object"}) {
		return nil, fmt.Errorf("a config is an object, not %s", strings.Join(r.root.Type, " or "))
	}
	if len(r.root.Properties) > maxFields {
		return nil, fmt.Errorf("it has more than %d settings", maxFields)
	}
	type placed struct {
		order float64
		field environment.ConfigField
	}
	var all []placed
	for name, raw := range r.root.Properties {
		if name == providerKey {
			continue
		}
		n, err := r.node(raw)
		if err != nil {
			return nil, fmt.Errorf("setting %q: %w", name, err)
		}
		f, err := r.field(name, n)
		if err != nil {
			return nil, fmt.Errorf("setting %q: %w", name, err)
		}
		f.Required = slices.Contains(r.root.Required, name)
		order := float64(maxFields * maxFields) // what has none comes last
		if n.Order != nil {
			order = *n.Order
		}
		all = append(all, placed{order, f})
	}
	slices.SortFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.field.Name, b.field.Name))
	})
	fields := make([]environment.ConfigField, len(all))
	for i := range all {
		fields[i] = all[i].field
	}
	return fields, nil
}

// field reads one setting.
func (r *reader) field(name string, n node) (environment.ConfigField, error) {
	f := environment.ConfigField{
		Name: name, Title: cmp.Or(n.Title, name), Help: n.Description, Minimum: n.Minimum, Maximum: n.Maximum,
		MaxLength: int(min(n.MaxLength, 1<<30)), Pattern: n.Pattern, Unit: n.Unit, Group: n.Group, Role: cmp.Or(n.Role, RoleTarget),
		Placeholder: n.Placeholder, Multiline: n.Multiline, Secret: n.Format == "secret-ref",
	}
	if !nameForm().MatchString(name) || strings.HasSuffix(name, refSuffix) {
		return f, fmt.Errorf("a name has letters, digits, _ and -, begins with a letter and does not end in %s", refSuffix)
	}
	if !slices.Contains([]string{RoleImage, RoleTarget, RoleAccount, RoleRuntime}, f.Role) {
		return f, fmt.Errorf("there is no role %q", f.Role)
	}
	if !unset(n.Default) {
		f.Default = n.Default
	}
	if err := r.shape(&f, n); err != nil {
		return f, err
	}
	if f.Secret && f.Type != TypeString {
		return f, fmt.Errorf("a secret is a string")
	}
	return f, nil
}

func nameForm() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,79}$`) }
