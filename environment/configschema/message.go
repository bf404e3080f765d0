package configschema

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"berth/environment"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// message says what to do about one thing that is wrong. It never repeats the
// value: that may be a secret.
func (s *Schema) message(path []string, k jsonschema.ErrorKind) string {
	var f environment.ConfigField
	if len(path) > 0 {
		f = s.byName[path[0]]
	}
	nested := len(path) > 1
	switch k := k.(type) {
	case *kind.Type:
		return wanted(f, nested, k.Want)
	case *kind.Enum, *kind.Const:
		if len(f.Options) > 0 && !nested {
			return "Choose " + choices(f.Options) + "."
		}
		return "This is none of the allowed values."
	case *kind.Minimum:
		if f.Minimum == nil || nested {
			return "Enter a number of at least " + ratText(k.Want) + unitOf(f) + "."
		}
		return numberWanted(f)
	case *kind.Maximum:
		if f.Maximum == nil || nested {
			return "Enter a number of at most " + ratText(k.Want) + unitOf(f) + "."
		}
		return numberWanted(f)
	case *kind.ExclusiveMinimum:
		return "Enter a number above " + ratText(k.Want) + unitOf(f) + "."
	case *kind.ExclusiveMaximum:
		return "Enter a number below " + ratText(k.Want) + unitOf(f) + "."
	case *kind.MultipleOf:
		return "Enter a multiple of " + ratText(k.Want) + unitOf(f) + "."
	case *kind.Pattern:
		return "This has not the form that is asked for: " + k.Want + "."
	case *kind.MinLength:
		return fmt.Sprintf("Enter at least %s.", count(k.Want, "character"))
	case *kind.MaxLength:
		return fmt.Sprintf("This is too long: at most %s.", count(k.Want, "character"))
	case *kind.MinItems:
		return linesWanted(k.Want)
	case *kind.MinProperties:
		return linesWanted(k.Want)
	case *kind.MaxItems:
		return linesTooMany(k.Want)
	case *kind.MaxProperties:
		return linesTooMany(k.Want)
	case *kind.UniqueItems:
		return fmt.Sprintf("Lines %d and %d are the same.", k.Duplicates[0]+1, k.Duplicates[1]+1)
	case *kind.FalseSchema:
		return "This setting cannot be used here."
	case *kind.OneOf, *kind.AnyOf:
		return variantWanted(f)
	case *kind.Not:
		return "This value is not allowed."
	}
	return "This value is not allowed here."
}

func linesWanted(least int) string { return fmt.Sprintf("Enter at least %s.", count(least, "line")) }

func linesTooMany(most int) string {
	return fmt.Sprintf("These are too many: at most %s.", count(most, "line"))
}

// variantWanted asks for one of a union's forms.
func variantWanted(f environment.ConfigField) string {
	if len(f.Variants) == 0 {
		return "This fits none of the allowed forms."
	}
	titles := make([]string, len(f.Variants))
	for i, v := range f.Variants {
		titles[i] = lowerFirst(v.Title)
		if len(v.Field.Options) > 0 {
			titles[i] = choices(v.Field.Options)
		}
	}
	return "Enter " + oneOf(titles) + "."
}

// wanted asks for a value of the field's type.
func wanted(f environment.ConfigField, nested bool, types []string) string {
	switch {
	case nested:
		return "Enter text here."
	case len(f.Options) > 0:
		return "Choose " + choices(f.Options) + "."
	}
	switch f.Type {
	case TypeInteger, TypeNumber:
		return numberWanted(f)
	case TypeBoolean:
		return "Choose yes or no: true or false."
	case TypeMap:
		return "Enter names and their values: an object of strings."
	case TypeList:
		return "Enter a list of texts."
	case TypeString:
		return "Enter text."
	}
	return "Enter " + oneOf(types) + "."
}

// numberWanted asks for a number within the field's range, with its unit.
func numberWanted(f environment.ConfigField) string {
	what := "Enter a number"
	if f.Type == TypeInteger {
		what = "Enter a whole number"
	}
	switch {
	case f.Minimum != nil && f.Maximum != nil:
		what += " from " + floatText(*f.Minimum) + " to " + floatText(*f.Maximum) + unitOf(f)
	case f.Minimum != nil:
		what += " of at least " + floatText(*f.Minimum) + unitOf(f)
	case f.Maximum != nil:
		what += " of at most " + floatText(*f.Maximum) + unitOf(f)
	}
	return what + "."
}

func choices(options []environment.ConfigOption) string {
	words := make([]string, len(options))
	for i, o := range options {
		words[i] = o.Value
		if o.Value == "" {
			words[i] = `""`
		}
	}
	return oneOf(words)
}

// oneOf writes "a", "a or b", "a, b or c".
func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func unitOf(f environment.ConfigField) string {
	if f.Unit == "" {
		return ""
	}
	return " " + f.Unit
}

func floatText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func ratText(r *big.Rat) string {
	v, _ := r.Float64()
	return floatText(v)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
