package probing

import (
	"context"

	"berth/environment"
	"berth/environment/crew"
)

// qualify decides what a finished probe of a saved sandbox does to the
// environment's qualification for its company, and why.
func (t *trial) qualify(ctx context.Context, p environment.Probe, out outcome) (environment.QualificationResult, environment.QualificationChange) {
	var change environment.QualificationChange
	switch {
	case p.State != environment.ProbeDone:
		return t.because(environment.QualCancelled, "the test did not come to its end, so what was recorded before stays as it is"), change
	case !p.OK && environment.CodeOf(out.err) == "database_unavailable":
		return t.because(environment.QualCancelled, "Berth's own database was away, so what was recorded before stays as it is"), change
	case !p.OK:
		change.Revoke = environment.RevokedProbe
		return t.because(environment.QualProbeFailed, "the test failed, and anything that was recorded before is revoked"), change
	}
	if code, why := t.obstacle(ctx); code != "" {
		return t.because(code, why), change
	}
	change.Record = t.record()
	return environment.QualificationResult{Recorded: true, Code: environment.QualRecorded,
		Message: "The image of " + t.called() + " is recorded as " + t.platform.String() + " for this company."}, change
}

// obstacle is the first thing that stands in the way of a record, in the order in
// which people can do something about it; "" when nothing does.
func (t *trial) obstacle(ctx context.Context) (code, why string) {
	key := t.env.Key()
	identifier, err := environment.Ability[environment.Identifier](t.drivers, key)
	if err != nil || key.Provider == environment.ProviderFake {
		return environment.QualUnsupported, "its provider cannot prove what a sandbox was made from"
	}
	if t.job.probe.CompanyID == nil {
		return environment.QualCompanyRequired, "no company was named"
	}
	admission, err := t.specs.Admission(ctx, t.env, *t.job.probe.CompanyID)
	if err == nil && admission.State == environment.QualificationNotRequired {
		return environment.QualManagedNotNeeded, "the platform selects its image, so no record is needed"
	}
	selected, code, ok := identifier.Selected(t.env.Config)
	switch {
	case !ok && code == environment.QualDefaultImage:
		return code, "no image is configured, and the provider's default may change"
	case !ok:
		return environment.QualMutableImage, "its image is named by a tag, which may lead elsewhere tomorrow; pin it by digest"
	case t.imageErr != nil || t.image == nil:
		return environment.QualUnverified, "the provider could not prove what the sandbox was made from"
	case !t.image.Same(selected):
		return environment.QualMismatch, "the sandbox was made from another image than the configuration names"
	case t.platform == nil:
		return environment.QualUnmeasured, "system, machine and C library could not all be measured in it"
	}
	if code, why = t.changed(ctx); code != "" {
		return code, why
	}
	if t.receipt == nil {
		return environment.QualCleanup, "the provider did not confirm that the test's sandbox is gone"
	}
	image := *t.image
	if image.Reference = selected.Reference; image.Repository == "" {
		image.Repository = selected.Repository
	}
	t.image = &image
	return "", ""
}

// changed compares the environment with how it was before the sandbox was made.
func (t *trial) changed(ctx context.Context) (code, why string) {
	var now environment.Fingerprints
	err := crew.Retry(ctx, crew.Transient, func(ctx context.Context) error {
		view, err := t.store.Environment(ctx, t.env.ID)
		if err == nil {
			now, err = t.specs.Fingerprints(ctx, view.Environment)
		}
		return err
	})
	switch {
	case err != nil:
		return environment.QualConfigChanged, "it could not be compared with what is saved now"
	case now.Qualification == "" || now.Qualification != t.before.Qualification:
		return environment.QualConfigChanged, "its configuration was changed during the test"
	case (now.Template == nil) != (t.before.Template == nil) || now.Template != nil && *now.Template != *t.before.Template:
		return environment.QualTemplateChanged, "its captured image was changed during the test"
	}
	return "", ""
}

// record is what a passed probe proves.
func (t *trial) record() *environment.Qualification {
	return &environment.Qualification{
		EnvironmentID: t.env.ID, CompanyID: *t.job.probe.CompanyID, Status: environment.QualificationValid,
		Provider: t.env.Key().Provider, ProviderVersion: t.ref.ProviderVersion,
		Fingerprint: t.before.Qualification, TemplateID: t.before.Template, Image: *t.image, Platform: *t.platform,
		ProbeID: t.job.probe.ID, LeaseID: t.lease.ID, ProviderID: t.ref.ProviderID, Receipt: t.lease.Receipt, MeasuredAt: t.now(),
	}
}

// because is the result of a probe that recorded nothing.
func (t *trial) because(code, why string) environment.QualificationResult {
	return environment.QualificationResult{Code: code, Message: "The image of " + t.called() + " was not recorded: " + why + "."}
}

// called names the environment without an address or a credential.
func (t *trial) called() string {
	name := "“" + t.env.Name + "” (" + t.env.Key().Provider
	if t.result.Image != nil && t.result.Image.Reference != "" {
		name += ", " + environment.CleanText(t.result.Image.Reference)
	}
	return name + ")"
}

// cannotQualify is the result of a draft.
func cannotQualify() *environment.QualificationResult {
	return &environment.QualificationResult{Code: environment.QualDraft,
		Message: "A draft is not saved, so nothing was recorded: save it and test it then."}
}
