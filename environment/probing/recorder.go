package probing

import (
	"context"
	"sync"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// recorder stores stages in the order in which they are reported while the
// driver goes on, so that a slow database does not lengthen the probe. Of a
// stage that changed again before it was stored only the newest state is.
type recorder struct {
	mu      sync.Mutex
	stages  []environment.Stage
	pending []string // names, oldest first
	closed  bool
	wake    chan struct{}
	done    chan struct{}
}

// record begins to store the stages of a probe. Its close must be called.
func (s *Service) record(ctx context.Context, p environment.Probe) *recorder {
	r := &recorder{stages: append([]environment.Stage{}, p.Stages...), wake: make(chan struct{}, 1), done: make(chan struct{})}
	go func() {
		defer close(r.done)
		s.storeStages(context.WithoutCancel(ctx), p.ID, r)
	}()
	return r
}

func (s *Service) storeStages(ctx context.Context, id uuid.UUID, r *recorder) {
	healthy := true
	for range r.wake {
		for stage, ok := r.next(); ok; stage, ok = r.next() {
			if !healthy {
				continue // the verdict stores every stage once more
			}
			write, cancel := context.WithTimeout(ctx, 5*time.Second)
			if err := s.store.ReportStage(write, id, stage); err != nil {
				healthy = false
				s.log.Warn("store a probe's stage", "probe", id, "stage", stage.Name, "err", err)
			}
			cancel()
		}
	}
}

// report is what the driver calls. After close it does nothing: a driver that
// goes on after its time can change no verdict.
func (r *recorder) report(stage environment.Stage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || stage.Name == "" {
		return
	}
	stage = tidy(stage)
	r.stages = merge(r.stages, stage)
	for _, name := range r.pending {
		if name == stage.Name {
			return
		}
	}
	r.pending = append(r.pending, stage.Name)
	r.signal()
}

func (r *recorder) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *recorder) next() (environment.Stage, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.pending) == 0 {
		return environment.Stage{}, false
	}
	name := r.pending[0]
	r.pending = r.pending[1:]
	for _, stage := range r.stages {
		if stage.Name == name {
			return stage, true
		}
	}
	return environment.Stage{}, false
}

// close stores what is pending and returns the stages as they were reported.
func (r *recorder) close() []environment.Stage {
	r.mu.Lock()
	r.closed = true
	r.signal()
	close(r.wake)
	r.mu.Unlock()
	<-r.done
	return r.stages
}
