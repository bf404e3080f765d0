package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"berth/environment"
	"berth/environment/configschema"
	"berth/handlers/api"

	"github.com/spf13/pflag"
)

// sandboxFlags are the settings of a sandbox: which there are, the server's
// provider says, so that they are read when it is known which one is meant.
type sandboxFlags struct {
	provider string
	image    string
	sets     []string // KEY=VALUE
	setFiles []string // KEY=FILE
	unsets   []string // KEY
}

func (in *sandboxFlags) register(f *pflag.FlagSet) {
	f.StringVar(&in.provider, "provider", "", "provider of a sandbox, such as docker; see \"berth env capabilities\"")
	f.StringVar(&in.image, "image", "", "image of a sandbox; with its digest (name@sha256:...) it stays the same")
	f.StringArrayVar(&in.sets, "set", nil, "setting of a sandbox, `KEY=VALUE`; a list's repeated, a map's KEY.NAME=VALUE; may be repeated")
	f.StringArrayVar(&in.setFiles, "set-file", nil, "setting of a sandbox out of a file, `KEY=FILE`, - for standard input; secrets only so; may be repeated")
}

func (in *sandboxFlags) registerChange(f *pflag.FlagSet) {
	f.StringArrayVar(&in.unsets, "unset", nil, "`KEY` of a sandbox's setting to take away; may be repeated")
}

// check refuses what is wrong whatever the provider; a value is never repeated.
func (in *sandboxFlags) check() error {
	for _, pair := range in.sets {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return &usageError{"--set takes KEY=VALUE"}
		}
		if environment.LooksSecret(snake(key), value) {
			return secretSetting(key)
		}
	}
	for _, pair := range in.setFiles {
		if key, path, ok := strings.Cut(pair, "="); !ok || key == "" || path == "" {
			return &usageError{"--set-file takes KEY=FILE"}
		}
	}
	return nil
}

// any reports whether one was given.
func (in *sandboxFlags) any() bool {
	return in.provider != "" || in.image != "" || len(in.sets)+len(in.setFiles)+len(in.unsets) > 0
}

// snake is a key with its words apart, as names of variables have them.
func snake(key string) string {
	var b strings.Builder
	var before rune
	for _, r := range key {
		if unicode.IsLower(before) && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(r)
		before = r
	}
	return strings.ReplaceAll(b.String(), ".", "_")
}

func secretSetting(key string) error {
	if _, name, ok := strings.Cut(key, "."); ok {
		return &usageError{fmt.Sprintf("--set %s looks like a secret, and every user of this machine can read a command line; put the value in a file and use --secret-env-var %s=FILE", key, name)}
	}
	return &usageError{fmt.Sprintf("--set %s is refused: every user of this machine can read a command line; put the value in a file and use --set-file %s=FILE", key, key)}
}

// sandbox lays the flags of a sandbox into a body. saved is the environment that they change; nil
// for a new one.
func (in *inputs) sandbox(ctx context.Context, a *app, c *client, body map[string]any, saved *api.Environment) error {
	s := &in.sandboxFlags
	if !s.any() {
		return nil
	}
	config, err := object(body, "config")
	if err != nil {
		return err
	}
	body["config"] = config
	if _, named := body["driver"]; !named && (saved == nil || s.provider != "" && saved.Driver != environment.DriverSandbox) {
		body["driver"] = environment.DriverSandbox
	}
	if s.provider != "" {
		config["provider"] = s.provider
	}
	if s.image != "" {
		config["image"] = s.image
	}
	if len(s.sets)+len(s.setFiles)+len(s.unsets) == 0 {
		return nil
	}
	schema, err := a.schema(ctx, c, providerOf(config, saved))
	if err != nil {
		return err
	}
	return in.settings(a, schema, config)
}

// providerOf is whose settings are meant; "" when nothing says it.
func providerOf(config map[string]any, saved *api.Environment) string {
	if name, ok := config["provider"].(string); ok {
		return name
	}
	if saved != nil {
		return environment.ProviderOf(saved.Config)
	}
	return ""
}

// schema is what the server says of a provider's settings.
func (a *app) schema(ctx context.Context, c *client, provider string) (*configschema.Schema, error) {
	if provider == "" {
		return nil, &usageError{"--set, --set-file and --unset are for a sandbox: name its --provider"}
	}
	path, err := a.instancePath(ctx, c, "/environments/capabilities")
	if err != nil {
		return nil, err
	}
	var all api.Capabilities
	if err := c.call(ctx, request{method: http.MethodGet, path: path, into: &all}); err != nil {
		return nil, err
	}
	one, known := all.SandboxProviders[provider]
	if !known {
		return nil, &usageError{fmt.Sprintf("the server has no sandbox provider called %s: see \"berth env capabilities\"", provider)}
	}
	schema, err := configschema.Parse(one.ConfigSchema)
	if err != nil {
		return nil, fmt.Errorf("read the settings of %s: %w", provider, err)
	}
	return schema, nil
}

// settings reads the values as the provider's settings are typed.
func (in *inputs) settings(a *app, schema *configschema.Schema, config map[string]any) error {
	for _, pair := range in.sets {
		key, text, _ := strings.Cut(pair, "=")
		f, name, err := fieldOf(schema, key)
		if err != nil {
			return err
		}
		if f.Secret {
			return secretSetting(key)
		}
		if err := put(config, f, name, text); err != nil {
			return err
		}
	}
	for _, pair := range in.setFiles {
		key, path, _ := strings.Cut(pair, "=")
		f, name, err := fieldOf(schema, key)
		if err != nil {
			return err
		}
		text, err := in.read(a, "set-file "+key, path)
		if err != nil {
			return err
		}
		if !f.Multiline {
			text = dropLineEnd(text)
		}
		if err := put(config, f, name, text); err != nil {
			return err
		}
	}
	for _, key := range in.unsets {
		if _, _, err := fieldOf(schema, key); err != nil {
			return err
		}
		config[key] = nil
	}
	return nil
}

// fieldOf is the setting of a key, and the name behind the dot of a map's.
func fieldOf(schema *configschema.Schema, key string) (environment.ConfigField, string, error) {
	if f, ok := schema.Field(key); ok {
		return f, "", nil
	}
	head, name, dotted := strings.Cut(key, ".")
	if f, ok := schema.Field(head); ok && dotted && name != "" && f.Type == configschema.TypeMap {
		return f, name, nil
	}
	var names []string
	for _, f := range schema.Fields {
		names = append(names, f.Name)
	}
	return environment.ConfigField{}, "", &usageError{fmt.Sprintf("there is no setting called %s; there are %s", key, strings.Join(names, ", "))}
}

// put sets a value of the field's type; whether the provider takes it the server
// says.
func put(config map[string]any, f environment.ConfigField, name, text string) error {
	wrong := func(what string) error {
		return &usageError{fmt.Sprintf("--set %s takes %s", f.Name, what)}
	}
	switch f.Type {
	case configschema.TypeInteger:
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return wrong("a whole number")
		}
		config[f.Name] = n
	case configschema.TypeNumber:
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			return wrong("a number")
		}
		config[f.Name] = n
	case configschema.TypeBoolean:
		yes, err := strconv.ParseBool(strings.TrimSpace(text))
		if err != nil {
			return wrong("true or false")
		}
		config[f.Name] = yes
	case configschema.TypeMap:
		return putMap(config, f.Name, name, text, wrong)
	case configschema.TypeList:
		return putList(config, f.Name, text, wrong)
	case configschema.TypeUnion:
		config[f.Name] = text
		if json.Valid([]byte(text)) {
			config[f.Name] = json.RawMessage(text)
		}
	default:
		config[f.Name] = text
	}
	return nil
}

func putMap(config map[string]any, key, name, text string, wrong func(string) error) error {
	values, is := config[key].(map[string]any)
	if !is {
		values = map[string]any{}
		config[key] = values
	}
	if name != "" {
		values[name] = text
		return nil
	}
	whole := map[string]string{}
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		return wrong(fmt.Sprintf("a JSON object of text, or --set %s.NAME=VALUE", key))
	}
	for name, value := range whole {
		if environment.LooksSecret(name, value) {
			return secretSetting(key + "." + name)
		}
		values[name] = value
	}
	return nil
}

func putList(config map[string]any, key, text string, wrong func(string) error) error {
	values, is := config[key].([]any)
	if !is {
		values = []any{}
	}
	if !strings.HasPrefix(strings.TrimSpace(text), "[") {
		config[key] = append(values, text)
		return nil
	}
	var whole []string
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		return wrong("a JSON list of text, or one value each time")
	}
	for _, value := range whole {
		values = append(values, value)
	}
	config[key] = values
	return nil
}
