package environment

import "strings"

// Admit tells whether work may be started natively in an environment, and from
// what. It is pure: discovery, acquisition and pages all ask it.
//
// The one exception is the managed sandbox while the instance provisions its
// provider and no captured image applies to it: then what the platform selects
// now is used, whatever was recorded before.
func Admit(f AdmissionFacts) Admission {
	switch {
	case f.Driver != DriverSandbox, f.managedImage():
		return Admission{State: QualificationNotRequired, Allowed: true}
	case f.Captured == CapturedMalformed:
		return f.refuse(f.state(), "Its captured image cannot be read, so nobody can tell what would be started. Discard the captured image, or capture it again.")
	}
	switch state := f.state(); {
	case state != QualificationRecorded:
		return f.refuse(state, f.why(state))
	case f.Pack != nil && !*f.Pack:
		a := f.refuse(state, "No runner is packed for "+f.Record.Platform.String()+". Choose an environment with another image.")
		a.Code = CodeUnsupportedAdapter
		return a
	}
	identity := f.Record.Image
	return Admission{State: QualificationRecorded, Required: true, Allowed: true, Identity: &identity}
}

// managedImage is the exception. A marker alone, or a captured image that applies
// or cannot be read, does not make it.
func (f AdmissionFacts) managedImage() bool {
	return f.Managed && f.Provision != "" && f.Provision == f.Provider &&
		(f.Captured == CapturedNone || f.Captured == CapturedOutdated || f.Captured == "")
}

// state is how the record stands. It is current only for the same company,
// configuration and template, with an identity to start from.
func (f AdmissionFacts) state() QualificationState {
	switch r := f.Record; {
	case r == nil, r.CompanyID != f.CompanyID:
		return QualificationAbsent
	case r.Status != QualificationValid:
		return QualificationStateRevoke
	case f.Captured == CapturedMalformed, f.Fingerprint == "", r.Fingerprint != f.Fingerprint,
		!same(r.TemplateID, f.Template), !r.Image.Same(r.Image): // an identity that names nothing is the same as none
		return QualificationStale
	}
	return QualificationRecorded
}

// why says what stands in the way, and what to do.
func (f AdmissionFacts) why(state QualificationState) string {
	switch state {
	case QualificationStateRevoke:
		why := RevocationText(f.Record.RevokedFor)
		if by := f.Record.RevokedBy; by != "" {
			why += " (by " + by + ")"
		}
		return "Its qualification was revoked: " + why + ". Test it again for this company; setting back what was changed does not lift it."
	case QualificationStale:
		return "Its qualification is stale: it was measured with another configuration or image than is saved now. Test it again for this company."
	}
	return "It has no qualification for this company. Pin its image by digest and test it for this company."
}

func (f AdmissionFacts) refuse(state QualificationState, why string) Admission {
	return Admission{State: state, Required: true, Code: CodeQualificationMissing,
		Message: "The environment is not qualified for native work. " + why}
}

// RevocationText is what people read for the reason of a revocation, as part of a
// sentence.
func RevocationText(reason string) string {
	if t, ok := revocations[reason]; ok {
		return t
	}
	return reason
}

var revocations = map[string]string{
	RevokedTarget:   "its target was changed",
	RevokedAccount:  "its account or a credential was changed",
	RevokedImage:    "its image was changed",
	RevokedTemplate: "its captured image was changed",
	RevokedProbe:    "a later test failed",
	RevokedDeleted:  "the image does not exist any more",
	RevokedDriver:   "its driver was changed",
}

// String is "linux/arm64, musl 1.2.4".
func (p Platform) String() string {
	text := p.OS + "/" + p.Arch
	if libc := strings.TrimSpace(p.Libc + " " + p.LibcVersion); libc != "" && libc != "none" {
		text += ", " + libc
	}
	return text
}
