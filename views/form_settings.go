package views

import (
	"slices"
	"strconv"
	"strings"

	"berth/environment"
	"berth/views/ui"

	"github.com/a-h/templ"
)

// setting is one field of a driver's schema on the form.
type setting struct {
	ConfigValue
	err    string
	focus  bool
	picker *SecretPickerProps // of a secret
	parts  *ImagePartsProps   // of the image
}

// settingGroup is a part of the form: the main one has no title.
type settingGroup struct {
	id, title, note string
	settings        []setting
	open            bool
}

// settingGroups sorts the fields into groups, in the order of the schema.
func (p EnvironmentFormProps) settingGroups(refs map[string]environment.SecretReference) []settingGroup {
	var groups []settingGroup
	for _, v := range p.values.Config {
		s := setting{ConfigValue: v, err: errorAt(p.errors, v.name()), focus: p.firstBad() == v.name()}
		if v.Field.Secret {
			picker := p.picker(secretField{field: v.name(), label: v.Field.Title, choice: &v.Secret, lines: v.Field.Multiline}, refs, p.shelf)
			s.picker, s.err = &picker, ofSecret(p.errors, v.name())
		}
		if v.Field.Role == "image" && v.Field.Name == "image" {
			parts := NewImageParts(v.Text)
			s.parts = &parts
		}
		i := slices.IndexFunc(groups, func(g settingGroup) bool { return g.id == groupID(v.Field.Group) })
		if i < 0 {
			i = len(groups)
			groups = append(groups, settingGroup{id: groupID(v.Field.Group), title: groupTitle(v.Field.Group)})
		}
		g := &groups[i]
		g.settings = append(g.settings, s)
		g.open = g.open || s.err != "" || v.isSet() || v.Field.Secret && refs[v.name()].Ref.Type != ""
	}
	for i, g := range groups {
		groups[i].note = groupNote(g)
	}
	return groups
}

func groupID(group string) string {
	if group == "" {
		return "config-main"
	}
	return "config-" + strings.ToLower(strings.ReplaceAll(group, " ", "-"))
}

// groupTitle is a group as people read it.
func groupTitle(group string) string {
	if group == "" {
		return "Sandbox"
	}
	return strings.ToUpper(group[:1]) + strings.ReplaceAll(group[1:], "_", " ")
}

// groupNote names what a closed group holds: the first fields, and how many are
// set.
func groupNote(g settingGroup) string {
	names, set := make([]string, 0, len(g.settings)), 0
	for i, s := range g.settings {
		if i < 4 {
			names = append(names, lowerWord(s.Field.Title))
		}
		if s.isSet() {
			set++
		}
	}
	note := strings.Join(names, ", ")
	if len(g.settings) > 4 {
		note += ", …"
	}
	if set > 0 {
		note += " · " + strconv.Itoa(set) + " set"
	}
	return note
}

// lowerWord begins a title in lower case unless it is an abbreviation.
func lowerWord(title string) string {
	if len(title) > 1 && title[1] >= 'A' && title[1] <= 'Z' || title == "" {
		return title
	}
	return strings.ToLower(title[:1]) + title[1:]
}

// errorAt is what an error says of a field or of something within it.
func errorAt(errors map[string]string, name string) string {
	if errors[name] != "" {
		return errors[name]
	}
	within := ""
	for field := range errors {
		if (strings.HasPrefix(field, name+".") || strings.HasPrefix(field, name+"[")) && (within == "" || field < within) {
			within = field
		}
	}
	if within == "" {
		return ""
	}
	return strings.Trim(strings.TrimPrefix(within, name), ".[]") + ": " + errors[within]
}

// defaultText is what leaving a field unset means; "" when the schema does not
// say.
func defaultText(f environment.ConfigField) string {
	if f.Default == nil || string(f.Default) == "null" {
		return ""
	}
	text, _ := textOf(f.Type, f.Default)
	switch {
	case f.Type == fieldBoolean && text == "":
		return "off"
	case f.Type == fieldMap || string(f.Default) == "{}" || string(f.Default) == "[]":
		return ""
	}
	for _, o := range f.Options {
		if o.Value == text {
			return o.Label
		}
	}
	return text
}

// props are those of a field with text.
func (s setting) props() ui.FieldProps {
	f := s.Field
	p := ui.FieldProps{Name: s.name(), Label: f.Title, Value: s.Text, Help: f.Help, Error: s.err, Placeholder: f.Placeholder, Required: f.Required,
		Unit: f.Unit, Autofocus: s.focus, Mono: f.Type == "string" || f.Type == fieldList, Wide: f.Multiline || f.Type == fieldList || s.parts != nil,
		Attrs: map[string]any{"hx-post": draftsPath + "/check?field=" + s.name()}}
	if d := defaultText(f); d != "" {
		p.Placeholder = d
	}
	if f.Type == fieldInteger || f.Type == fieldNumber {
		p.Attrs["inputmode"] = "decimal"
	}
	p.Unset = !f.Required && p.Placeholder != "" && defaultText(f) != ""
	if f.MaxLength > 0 {
		p.Attrs["maxlength"] = strconv.Itoa(f.MaxLength)
	}
	return p
}

// options are the values of an enum, and first what leaving it unset means.
func (s setting) options() []ui.Option {
	var options []ui.Option
	if !s.Field.Required {
		unset := "Not set"
		if d := defaultText(s.Field); d != "" {
			unset = "Default: " + lowerWord(d)
		}
		options = append(options, ui.Option{Label: unset})
	}
	known := s.Text == ""
	for _, o := range s.Field.Options {
		options = append(options, ui.Option{Value: o.Value, Label: o.Label})
		known = known || o.Value == s.Text
	}
	if !known {
		options = append(options, ui.Option{Value: s.Text, Label: s.Text})
	}
	return options
}

func (s setting) switchHelp() string {
	help := s.Field.Help
	if d := string(s.Field.Default); d == "true" {
		help = strings.TrimSpace(help + " On unless it is switched off.")
	}
	return help
}

// mapRows are the entries, and spare rows below them.
func (s setting) mapRows() []ConfigRow {
	rows := slices.DeleteFunc(slices.Clone(s.Rows), func(r ConfigRow) bool { return r == ConfigRow{} })
	return append(rows, make([]ConfigRow, spareRows)...)
}

// RowField is the form's name of a part of an entry of a map.
func RowField(name string, n int, part string) string {
	return name + "." + strconv.Itoa(n) + "." + part
}

func rowLabel(s setting, n int, part string) string {
	return part + " of entry " + strconv.Itoa(n+1) + " of " + s.Field.Title
}

// isBadRow marks the entry that is wrong; all of them when it is not known which.
func (s setting) isBadRow(row ConfigRow) templ.Attributes {
	key, _, named := strings.Cut(s.err, ": ")
	if named && slices.ContainsFunc(s.Rows, func(r ConfigRow) bool { return r.Key == key }) && row.Key != key {
		return nil
	}
	return s.isBad()
}

// VariantField is the form's name of the text of a union's shape, counted from 1.
func VariantField(name string, n int) string { return name + ".v" + strconv.Itoa(n) }

func (s setting) variantText(n int) string {
	if n < len(s.Texts) {
		return s.Texts[n]
	}
	return ""
}

// isBad marks the control of a wrong field.
func (s setting) isBad() templ.Attributes {
	if s.err == "" {
		return nil
	}
	return templ.Attributes{"aria-invalid": "true", "aria-describedby": ui.ErrorID(s.name()), "autofocus": s.focus}
}

// fieldsKnown tells whether a name is a field of the form's schema.
func (v FormValues) fieldsKnown(name string) bool {
	return slices.ContainsFunc(v.Config, func(c ConfigValue) bool {
		return name == c.name() || strings.HasPrefix(name, c.name()+".") || strings.HasPrefix(name, c.name()+"[")
	})
}
