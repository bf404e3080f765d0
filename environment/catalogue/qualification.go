package catalogue

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"berth/environment"
	"berth/environment/access"

	"github.com/google/uuid"
)

// codeNothingToPin is the refusal of PinImage without a digest.
const codeNothingToPin = "nothing_to_pin"

// Admission is whether native work may start in an environment for a company, and
// from what. It asks no provider and opens no secret.
func (s *Service) Admission(ctx context.Context, env environment.Environment, company uuid.UUID) (environment.Admission, error) {
	facts, err := s.facts(ctx, env, company)
	if err != nil {
		return environment.Admission{}, err
	}
	return environment.Admit(facts), nil
}

// facts gathers what Admit looks at, from the database alone.
func (s *Service) facts(ctx context.Context, env environment.Environment, company uuid.UUID) (environment.AdmissionFacts, error) {
	facts := environment.AdmissionFacts{
		Driver: env.Driver, Managed: env.Managed, Provider: env.Key().Provider,
		Captured: environment.CapturedNone, CompanyID: company,
	}
	if env.Driver != environment.DriverSandbox {
		return facts, nil
	}
	settings, err := s.store.Settings(ctx)
	if err != nil {
		return facts, err
	}
	facts.Provision = settings.ManagedProvider
	if facts.Record, err = s.store.Qualification(ctx, env.ID, company); err != nil {
		return facts, err
	}
	prints, err := s.Fingerprints(ctx, env)
	facts.Fingerprint, facts.Template = prints.Qualification, prints.Template
	return facts, err
}

// QualificationView is what a page shows of a qualification: never the record.
type QualificationView struct {
	Admission environment.Admission
	CompanyID uuid.UUID
	// Platform and MeasuredAt are nil unless something is recorded.
	Platform   *environment.Platform
	MeasuredAt *string // RFC 3339, in UTC
	RevokedFor string
	RevokedBy  string
	RevokedAt  *time.Time // nil while it is not revoked
	// Last is the newest probe's own word; nil unless it was for this company and of
	// what is configured now.
	Last *environment.QualificationResult
	// Pin is the reference with the digest that the last probe of this config read,
	// which one click would save; "" when there is nothing to pin.
	Pin string
	// Local tells that there is none to pin although that probe found the image: the
	// engine did not get it from a registry.
	Local bool
}

// Qualification is the notice of an environment's page: how native work stands for
// a company. Its Admission names no image. The actor sees environments whole;
// KindNotFound with code environment_not_found, or company_not_found.
func (s *Service) Qualification(ctx context.Context, actor environment.Actor, id uuid.UUID, company uuid.UUID) (QualificationView, error) {
	none := QualificationView{}
	if err := access.May(actor, access.SeeWhole, access.Instance); err != nil {
		return none, err
	}
	view, err := s.environment(ctx, id)
	if err != nil {
		return none, err
	}
	if company != uuid.Nil {
		if _, err := s.store.Company(ctx, company); err != nil {
			return none, err
		}
	}
	facts, err := s.facts(ctx, view.Environment, company)
	if err != nil {
		return none, err
	}
	q := QualificationView{Admission: environment.Admit(facts), CompanyID: company, Pin: pinOf(view), Local: isLocalImage(view)}
	q.Admission.Identity = nil // the record's own
	if r := facts.Record; r != nil {
		measured := r.MeasuredAt.UTC().Format(time.RFC3339)
		platform := r.Platform
		q.Platform, q.MeasuredAt, q.RevokedFor, q.RevokedBy, q.RevokedAt = &platform, &measured, r.RevokedFor, r.RevokedBy, r.RevokedAt
	}
	if last := view.Last; last != nil && last.CompanyID != nil && *last.CompanyID == company && last.ConfigRevision == view.ConfigRevision {
		q.Last = last.Qualification
	}
	return q, nil
}

// PinImage saves the digest that the last probe of this config read for the tag.
// KindConflict with code nothing_to_pin when it read none, KindStale with code
// stale_revision when the row has another revision.
func (s *Service) PinImage(ctx context.Context, actor environment.Actor, id uuid.UUID, ifRevision *int) (environment.EnvironmentView, error) {
	none := environment.EnvironmentView{}
	if err := access.May(actor, access.ManageEnvironment, access.Instance); err != nil {
		return none, err
	}
	view, err := s.environment(ctx, id)
	if err != nil {
		return none, err
	}
	if ifRevision != nil && *ifRevision != view.Revision {
		return none, s.stale(ctx, view, *ifRevision)
	}
	pin := pinOf(view)
	if pin == "" {
		return none, environment.Conflict(codeNothingToPin, "No test of this configuration has read a digest for its image.").
			Remedy("Test the environment, then pin what the test found.")
	}
	raw, err := json.Marshal(pin)
	if err != nil {
		return none, err
	}
	patch := environment.Patch{Config: map[string]json.RawMessage{imageKey: raw}}
	if _, err := s.Update(ctx, actor, id, &view.Revision, patch); err != nil {
		return none, err
	}
	return s.environment(ctx, id)
}

// isLocalImage: the last probe of this very config found an image that the engine got
// from no registry.
func isLocalImage(view environment.EnvironmentView) bool {
	last := view.Last
	return view.Driver == environment.DriverSandbox && last != nil && !last.Draft && last.ConfigRevision == view.ConfigRevision &&
		last.Image != nil && last.Image.Kind == environment.ImageLocal
}

// pinOf is the configured image with the digest that the last probe of this very
// config read for it; "" for none, and for an image that is pinned already.
func pinOf(view environment.EnvironmentView) string {
	last := view.Last
	if view.Driver != environment.DriverSandbox || last == nil || last.Draft || last.Image == nil ||
		last.Image.Digest == "" || last.ConfigRevision != view.ConfigRevision {
		return ""
	}
	var configured string
	if json.Unmarshal(object(view.Config)[imageKey], &configured) != nil {
		return ""
	}
	configured = strings.TrimSpace(configured)
	image, problem := environment.ParseImage(configured)
	if problem != "" || image.Pinned() || last.Image.Reference != "" && last.Image.Reference != configured {
		return ""
	}
	pin := configured + "@" + last.Image.Digest
	if pinned, problem := environment.ParseImage(pin); problem != "" || !pinned.Pinned() {
		return "" // a digest that no engine would take
	}
	return pin
}
