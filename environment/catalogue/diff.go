package catalogue

import (
	"encoding/json"
	"reflect"
	"strings"

	"berth/environment"
)

// differences are what an update alters, for the log: values only where they
// cannot be a secret.
func differences(old, next environment.Environment) environment.Changes {
	c := environment.Changes{}
	c.Add("name", old.Name, next.Name)
	c.Add("description", textOf(old.Description), textOf(next.Description))
	c.Add("driver", old.Driver, next.Driver)
	c.Add("status", string(old.Status), string(next.Status))
	if canonical(old.Metadata) != canonical(next.Metadata) {
		c.Hide("metadata", !isNull(old.Metadata), !isNull(next.Metadata))
	}
	budgetChanges(c, old.Budget, next.Budget)
	before, after := object(old.Config), object(next.Config)
	for key := range keysOf(before, after) {
		configChange(c, key, before[key], after[key])
	}
	for name := range keysOf(old.EnvVars, next.EnvVars) {
		was, had := old.EnvVars[name]
		is, has := next.EnvVars[name]
		if !reflect.DeepEqual(was, is) || had != has {
			c.Hide("envVars."+name, had, has)
		}
	}
	return c
}

func configChange(c environment.Changes, key string, before, after json.RawMessage) {
	was, is := canonical(before), canonical(after)
	if was == is {
		return
	}
	longOrSecret := func(v string) bool {
		return len(v) > 300 || strings.HasPrefix(v, "{") || strings.HasPrefix(v, "[{") || environment.LooksSecret(key, strings.Trim(v, `"`))
	}
	if strings.HasSuffix(key, refSuffix) || longOrSecret(was) || longOrSecret(is) {
		c.Hide("config."+key, was != "null", is != "null")
		return
	}
	c["config."+key] = map[string]any{"before": json.RawMessage(was), "after": json.RawMessage(is)}
}

func keysOf[V any](a, b map[string]V) map[string]bool {
	keys := make(map[string]bool, len(a)+len(b))
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	return keys
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
