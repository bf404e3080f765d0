package views

import (
	"strconv"
	"strings"

	"berth/environment"
	"berth/views/ui"
)

// ImagePartsState is what a reference to an image names.
type ImagePartsState string

// The states of a reference.
const (
	ImageNone    ImagePartsState = "none"
	ImageInvalid ImagePartsState = "invalid"
	ImageMutable ImagePartsState = "mutable" // by a name that can lead elsewhere tomorrow
	ImagePinned  ImagePartsState = "pinned"
)

// ImagePartsProps is a reference taken apart.
type ImagePartsProps struct {
	state ImagePartsState
	parts []ui.Pair
	note  string
}

// NewImageParts takes a reference apart, as it was typed.
func NewImageParts(text string) ImagePartsProps {
	if strings.TrimSpace(text) == "" {
		return ImagePartsProps{state: ImageNone}
	}
	if hex, is := strings.CutPrefix(strings.TrimSpace(text), "sha256:"); is && len(hex) == 64 {
		return ImagePartsProps{state: ImagePinned, parts: []ui.Pair{{Key: "Image id", Value: strings.TrimSpace(text), Code: true}},
			note: "An image of the engine's own: it is never fetched."}
	}
	image, problem := environment.ParseImage(text)
	if problem != "" {
		return ImagePartsProps{state: ImageInvalid}
	}
	p := ImagePartsProps{state: ImageMutable, parts: imagePairs(image),
		note: "A name can lead to another image tomorrow. What is pinned by a digest cannot, and only that qualifies."}
	if image.Pinned() {
		p.state, p.note = ImagePinned, "The digest decides what runs, whatever a tag says."
	}
	return p
}

// imagePairs are the parts of a reference; a missing one reads "none".
func imagePairs(i environment.Image) []ui.Pair {
	part := func(key, value, none string) ui.Pair {
		if value == "" {
			return ui.Pair{Key: key, Value: none}
		}
		return ui.Pair{Key: key, Value: value, Code: true}
	}
	tag := "none"
	if !i.Pinned() {
		tag = "none, which is latest"
	}
	return []ui.Pair{part("Registry", i.Registry, "none"), part("Repository", i.Repository, "none"), part("Tag", i.Tag, tag), part("Digest", i.Digest, "none")}
}

// shortImage is a reference for one line: enough of a digest to tell two apart.
func shortImage(text string) string {
	name, digest, pinned := strings.Cut(text, "@")
	kind, hex, ok := strings.Cut(digest, ":")
	if !pinned || !ok || len(hex) < 16 {
		return text
	}
	return name + "@" + kind + ":" + hex[:12] + "…"
}

// variantValue is the form's value of a union's shape.
func variantValue(i int) string { return strconv.Itoa(i + 1) }

// identityPairs are what really was made from a reference, as the provider says.
func identityPairs(i environment.ImageIdentity) []ui.Pair {
	var pairs []ui.Pair
	for _, pair := range []ui.Pair{{Key: "Tested digest", Value: i.Digest}, {Key: "Tested image id", Value: i.ImageID}, {Key: "Tested snapshot", Value: i.SnapshotID}} {
		if pair.Value != "" {
			pair.Code = true
			pairs = append(pairs, pair)
		}
	}
	return pairs
}
