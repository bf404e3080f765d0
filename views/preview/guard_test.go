package preview

import (
	"testing"

	"github.com/PuerkitoBio/goquery"
)

// What somebody types is not lost when they leave a page by mistake, are signed
// out or get other rights: the form that it stands in is guarded. Forms that hold
// nothing but passwords, or choices, are not: what fills them in is the browser.
func TestFormsThatTakeTextAreGuarded(t *testing.T) {
	seen := 0
	for _, p := range All() {
		_, body := rendered(t, p)
		body.Find("form[method=post]").Not("#sign-in form, #link form").Each(func(_ int, form *goquery.Selection) {
			text := form.Find("textarea, input[type=text], input[type=email], input:not([type])").Not("[hidden], [name=confirm]")
			if text.Length() == 0 {
				return
			}
			seen++
			if _, is := form.Attr("data-guard"); !is {
				name, _ := text.First().Attr("name")
				action, _ := form.Attr("action")
				t.Errorf("%s: what is typed into %s of the form of %s is not guarded", p.Name, name, action)
			}
		})
	}
	if seen < 50 {
		t.Errorf("%d forms were looked at", seen)
	}
}
