package environment

import (
	_ "crypto/sha256" // digests that can be checked
	_ "crypto/sha512"
	"errors"
	"strings"

	"github.com/distribution/reference"
)

// Image is a reference to a container image, taken apart. Its text is kept as it
// was entered, but for white space around it.
type Image struct {
	Text       string // as entered: "registry.example:5000/team/app:1.2@sha256:..."
	Registry   string // "registry.example:5000", "docker.io" when none was named
	Repository string // "team/app", "library/busybox"
	Tag        string // "" for none
	Digest     string // "sha256:..."; it decides what runs, whatever the tag says
}

// Pinned reports whether the reference names content and not only a name.
func (i Image) Pinned() bool { return i.Digest != "" }

// ParseImage reads a reference as container engines do, and says what is wrong
// with it; "" when nothing is. Nothing is looked up.
func ParseImage(text string) (image Image, problem string) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return Image{}, "Enter an image, such as registry.example/team/app:1.2."
	case strings.Contains(text, "://"):
		return Image{}, "Leave the scheme away: an image is registry.example/team/app:1.2, not a URL."
	}
	named, err := reference.ParseNormalizedNamed(text)
	if err != nil {
		return Image{}, imageProblem(text, err)
	}
	image = Image{Text: text, Registry: reference.Domain(named), Repository: reference.Path(named)}
	if tagged, ok := named.(reference.Tagged); ok {
		image.Tag = tagged.Tag()
	}
	if digested, ok := named.(reference.Digested); ok {
		image.Digest = digested.Digest().String()
		if err := digested.Digest().Validate(); err != nil {
			return Image{}, "The digest is not whole: sha256: and 64 hexadecimal digits, or sha512: and 128, in lower case."
		}
	}
	return image, ""
}

// imageProblem says what a person can do about a reference that cannot be read.
func imageProblem(text string, err error) string {
	name, digest, hasDigest := strings.Cut(text, "@")
	last := name[strings.LastIndex(name, "/")+1:]
	_, tag, hasTag := strings.Cut(last, ":")
	switch {
	case errors.Is(err, reference.ErrNameContainsUppercase), strings.ToLower(nameOf(name)) != nameOf(name):
		return "The name of an image is in lower case; only its tag may have capitals."
	case errors.Is(err, reference.ErrNameTooLong):
		return "The name of an image has at most 255 characters."
	case hasDigest && digest == "":
		return "Enter the digest after the @, or leave the @ away."
	case hasDigest:
		return "The digest is not whole: sha256: and 64 hexadecimal digits, or sha512: and 128, in lower case."
	case hasTag && tag == "":
		return "Enter the tag after the colon, or leave the colon away."
	case hasTag && len(tag) > 128:
		return "A tag has at most 128 characters."
	case hasTag:
		return "A tag has letters, digits, _, . and - only, and does not begin with . or -."
	case strings.ContainsAny(text, " \t\n"):
		return "An image has no blanks."
	}
	return "This is not the name of an image: parts of letters, digits and single . _ - are separated by single slashes."
}

// nameOf is a reference without its tag. A colon before a slash is a port's.
func nameOf(name string) string {
	if colon := strings.LastIndex(name, ":"); colon > strings.LastIndex(name, "/") {
		return name[:colon]
	}
	return name
}
