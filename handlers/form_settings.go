package handlers

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"berth/environment"
	"berth/environment/configschema"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// maxEntries bounds the rows of a map that a form is read for.
const maxEntries = 200

// fieldsOf are the settings of a driver that describes them; none for one that
// does not, or is not installed.
func fieldsOf(caps *environment.Capabilities) ([]environment.ConfigField, error) {
	if caps == nil || caps.Schema == "" {
		return nil, nil
	}
	schema, err := configschema.Parse(json.RawMessage(caps.Schema))
	if err != nil {
		return nil, fmt.Errorf("read the schema of %s: %w", caps.Key(), err)
	}
	return schema.Fields, nil
}

// installed finds what the driver of a key can do; nil when it is not there.
func installed(all []environment.Capabilities, key environment.DriverKey) *environment.Capabilities {
	for i := range all {
		if all[i].Key() == key {
			return &all[i]
		}
	}
	return nil
}

// formSettings reads the fields of a sandbox's provider. A form that showed those
// of another one has not got them all: what it lacks is unset.
func (s *server) formSettings(c echo.Context, f url.Values, v *views.FormValues) error {
	if v.Driver != environment.DriverSandbox {
		return nil
	}
	capabilities, err := s.Catalogue.Capabilities(c.Request().Context(), s.actor(c))
	if err != nil {
		return err
	}
	if v.Provider == "" {
		v.Provider = views.DefaultProvider(capabilities)
	}
	key := environment.KeyOf(v.Driver, v.Provider)
	fields, err := fieldsOf(installed(capabilities, key))
	if err != nil {
		return err
	}
	*v = v.WithFields(fields, nil)
	shown := f.Get("shown") == "" || f.Get("shown") == key.String()
	for i := range v.Config {
		readSetting(f, &v.Config[i], shown)
	}
	return nil
}

// readSetting reads one field. A switch that the form did not show is left as it is
// by itself.
func readSetting(f url.Values, v *views.ConfigValue, shown bool) {
	name := "config." + v.Field.Name
	switch {
	case v.Field.Secret:
	case v.Field.Type == "boolean":
		if shown {
			v.Text = f.Get(name)
		}
	case v.Field.Type == "map":
		for i := range maxEntries {
			if !f.Has(views.RowField(name, i, "key")) {
				break
			}
			row := views.ConfigRow{Key: f.Get(views.RowField(name, i, "key")), Value: f.Get(views.RowField(name, i, "value"))}
			if row != (views.ConfigRow{}) {
				v.Rows = append(v.Rows, row)
			}
		}
	case v.Field.Type == "union":
		if n, err := strconv.Atoi(f.Get(name + ".variant")); err == nil && n >= 0 && n <= len(v.Texts) {
			v.Variant = n
		}
		for i := range v.Texts {
			v.Texts[i] = lines(f.Get(views.VariantField(name, i+1)))
		}
	default:
		v.Text = lines(f.Get(name))
	}
}
