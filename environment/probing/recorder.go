package probing

import (
	"context"
	"sync"
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// recordPause is the least time between two writes of stages: what is reported
// meanwhile is written together, and costs the probe nothing.
const recordPause = 25 * time.Millisecond

// recorder stores stages in the order in which they are reported while the
// driver goes on, so that a slow database does not lengthen the probe. Of a
// stage that changed again before it was stored only the newest state is.
type recorder struct {
	mu      sync.Mutex
	stages  []environment.Stage
	pending []string // names, oldest first
	closed  bool
	wake    chan struct{}
	end     chan struct{} // closed by close
	done    chan struct{}
}

// record begins to store the stages of a probe. Its close must be called.
func (s *Service) record(ctx context.Context, p environment.Probe) *recorder {
	r := &recorder{stages: append([]environment.Stage{}, p.Stages...), wake: make(chan struct{}, 1),
		end: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(r.done)
		s.storeStages(context.WithoutCancel(ctx), p.ID, r)
	}()
	return r
}

func (s *Service) storeStages(ctx context.Context, id uuid.UUID, r *recorder) {
	for ended := false; !ended; {
		select {
		case <-r.wake:
		case <-r.end:
			ended = true
		}
		stages := r.next()
		if len(stages) == 0 {
			continue
		}
		write, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := s.store.ReportStages(write, id, stages...)
		cancel()
		if err != nil {
			s.log.Warn("store a probe's stages", "probe", id, "err", err)
			return // the verdict stores every stage once more
		}
		pause := time.NewTimer(recordPause)
		select {
		case <-pause.C:
		case <-r.end:
		}
		pause.Stop()
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

// stage is how a stage stands as it was reported last.
func (r *recorder) stage(name string) environment.Stage {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, stage := range r.stages {
		if stage.Name == name {
			return stage
		}
	}
	return environment.Stage{Name: name}
}

func (r *recorder) status(name string) environment.StageStatus { return r.stage(name).Status }

func (r *recorder) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// next takes what is pending, in order.
func (r *recorder) next() []environment.Stage {
	r.mu.Lock()
	defer r.mu.Unlock()
	var stages []environment.Stage
	for _, name := range r.pending {
		for _, stage := range r.stages {
			if stage.Name == name {
				stages = append(stages, stage)
			}
		}
	}
	r.pending = nil
	return stages
}

// close stores what is pending and returns the stages as they were reported.
func (r *recorder) close() []environment.Stage {
	r.mu.Lock()
	r.closed = true
	close(r.end)
	r.mu.Unlock()
	<-r.done
	return r.stages
}
