package handlers

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"berth/environment/access"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are this server's numbers, in a registry of its own.
type metrics struct {
	requests *prometheus.HistogramVec
	show     http.Handler
}

func newMetrics(counts func(context.Context) (map[string]map[string]int, error)) *metrics {
	registry := prometheus.NewRegistry()
	m := &metrics{
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "berth_http_request_duration_seconds",
			Help:    "Time to answer, by route.",
			Buckets: []float64{.001, .005, .025, .1, .5, 2.5, 10, 30},
		}, []string{"route", "method", "status"}),
		show: promhttp.HandlerFor(registry, promhttp.HandlerOpts{DisableCompression: true}),
	}
	registry.MustRegister(m.requests, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if counts != nil {
		registry.MustRegister(stateCounts{counts, prometheus.NewDesc("berth_under_way",
			"Runs, probes and leases that have not ended, by state.", []string{"kind", "state"}, nil)})
	}
	return m
}

func (m *metrics) request(route, method string, status int, took time.Duration) {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete:
	default:
		method = "other" // the caller may invent any
	}
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Observe(took.Seconds())
}

// stateCounts asks the database when the metrics are read.
type stateCounts struct {
	counts func(context.Context) (map[string]map[string]int, error)
	desc   *prometheus.Desc
}

func (s stateCounts) Describe(ch chan<- *prometheus.Desc) { ch <- s.desc }

func (s stateCounts) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	counts, err := s.counts(ctx)
	if err != nil {
		return // the other numbers are worth having without the database
	}
	for kind, states := range counts {
		for state, n := range states {
			ch <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, float64(n), kind, state)
		}
	}
}

// showMetrics answers GET /metrics in Prometheus' text format.
func (s *server) showMetrics(c echo.Context) error {
	if err := access.May(s.actor(c), access.ReadMetrics, access.Instance); err != nil {
		return err
	}
	s.metrics.show.ServeHTTP(c.Response(), c.Request())
	return nil
}
