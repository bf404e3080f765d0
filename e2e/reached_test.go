package e2e

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/playwright-community/playwright-go"
)

// states notes which states of which components were previewed and which tests
// reached them.
type states struct {
	mu        sync.Mutex
	reached   map[string][]string // tests by state key
	previewed map[string]string   // state keys by the preview's name
}

var (
	anID    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	aPicker = regexp.MustCompile(`^pick-.+`)
)

// stateKey names a component's state: the row of one environment is the row of
// any other, and so is the picker of a field.
func stateKey(id, state string) string {
	return aPicker.ReplaceAllString(anID.ReplaceAllString(id, "*"), "pick-*") + " " + state
}

func (s *states) reach(test, id, state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reached == nil {
		s.reached = map[string][]string{}
	}
	key := stateKey(id, state)
	if !slices.Contains(s.reached[key], test) {
		s.reached[key] = append(s.reached[key], test)
	}
}

func (s *states) preview(name, id, state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.previewed == nil {
		s.previewed = map[string]string{}
	}
	s.previewed[name] = stateKey(id, state)
}

// report prints the previews that no journey reached and returns those for which
// the feature map states no reason. It says nothing unless both were looked at.
func (s *states) report(w io.Writer, featureMap string) (unexplained []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.previewed) == 0 || len(s.reached) == 0 {
		return nil
	}
	var missed []string
	for name, key := range s.previewed {
		if len(s.reached[key]) > 0 {
			continue
		}
		missed = append(missed, name)
		if !strings.Contains(reasonIn(featureMap, name), "no journey: ") {
			unexplained = append(unexplained, name)
		}
	}
	slices.Sort(missed)
	slices.Sort(unexplained)
	_, _ = fmt.Fprintf(w, "e2e: the journeys reached %d of %d previewed states; not reached: %s\n",
		len(s.previewed)-len(missed), len(s.previewed), strings.Join(missed, ", "))
	return unexplained
}

// reasonIn is the row of a state in the feature map, "" when it has none.
func reasonIn(featureMap, name string) string {
	for line := range strings.Lines(featureMap) {
		if strings.Contains(line, "| `"+name+"` |") {
			return line
		}
	}
	return ""
}

// watchStates tells every state that an element with an id comes to have.
const watchStates = `(() => {
	const told = new Set();
	const tell = e => {
		if (!e.id || !e.dataset.state) return;
		const key = e.id + ' ' + e.dataset.state;
		if (told.has(key)) return;
		told.add(key);
		window.berthReached(e.id, e.dataset.state);
	};
	const look = root => {
		if (root.nodeType !== 1) return;
		if (root.matches('[data-state]')) tell(root);
		root.querySelectorAll('[data-state]').forEach(tell);
	};
	new MutationObserver(all => all.forEach(m => {
		if (m.type === 'attributes') tell(m.target);
		m.addedNodes.forEach(look);
	})).observe(document, {subtree: true, childList: true, attributes: true, attributeFilter: ['data-state']});
})()`

// watch makes a context tell the states that its pages come to have in a test.
func (s *states) watch(context playwright.BrowserContext, test string) error {
	err := context.ExposeFunction("berthReached", func(args ...any) any {
		if len(args) == 2 {
			s.reach(test, fmt.Sprint(args[0]), fmt.Sprint(args[1]))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return context.AddInitScript(playwright.Script{Content: playwright.String(watchStates)})
}
