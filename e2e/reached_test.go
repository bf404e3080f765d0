package e2e

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"

	"github.com/playwright-community/playwright-go"
)

// states notes which states of which components were previewed and which of
// them a journey reached.
type states struct {
	mu        sync.Mutex
	reached   map[string]bool
	previewed map[string]string // to the preview's name
}

var anID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// stateKey names a component's state: the row of one environment is the row of
// any other.
func stateKey(id, state string) string { return anID.ReplaceAllString(id, "*") + " " + state }

func (s *states) reach(id, state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reached == nil {
		s.reached = map[string]bool{}
	}
	s.reached[stateKey(id, state)] = true
}

func (s *states) preview(name, id, state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.previewed == nil {
		s.previewed = map[string]string{}
	}
	s.previewed[stateKey(id, state)] = name
}

// report prints the previews that no journey reached. It says nothing unless
// both were looked at.
func (s *states) report(w io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.previewed) == 0 || len(s.reached) == 0 {
		return
	}
	var missed []string
	for key, name := range s.previewed {
		if !s.reached[key] {
			missed = append(missed, name)
		}
	}
	slices.Sort(missed)
	_, _ = fmt.Fprintf(w, "e2e: the journeys reached %d of %d previewed states; not reached, each with its reason in docs/feature-map.md:\n",
		len(s.previewed)-len(missed), len(s.previewed))
	for _, name := range missed {
		_, _ = fmt.Fprintln(w, "e2e:  ", name)
	}
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

// watch makes a context tell the states that its pages come to have.
func (s *states) watch(context playwright.BrowserContext) error {
	err := context.ExposeFunction("berthReached", func(args ...any) any {
		if len(args) == 2 {
			s.reach(fmt.Sprint(args[0]), fmt.Sprint(args[1]))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return context.AddInitScript(playwright.Script{Content: playwright.String(watchStates)})
}
