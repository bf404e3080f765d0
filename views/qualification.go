package views

import (
	"cmp"
	"time"

	"berth/environment"
	"berth/views/ui"

	"github.com/google/uuid"
)

// QualificationShownState is how an image's platform stands for a company.
type QualificationShownState string

// The states: the words of environment.QualificationState, and that no company is
// picked of which they could be.
const (
	QualificationAbsent      QualificationShownState = "absent"
	QualificationRecorded    QualificationShownState = "recorded"
	QualificationStale       QualificationShownState = "stale"
	QualificationRevoked     QualificationShownState = "revoked"
	QualificationNotRequired QualificationShownState = "not_required"
	QualificationPick        QualificationShownState = "pick-company"
)

// Qualification is what a panel and a notice are made from: never the record.
type Qualification struct {
	Companies  []environment.Company // that the reader may pick
	Company    *environment.Company  // whose it is; nil: none is picked
	Admission  environment.Admission
	Platform   *environment.Platform
	MeasuredAt *time.Time
	RevokedFor string
	RevokedBy  string
	RevokedAt  *time.Time
	// Last is what the last test said of it, for this company.
	Last *environment.QualificationResult
	// Pin is the image with the digest that the last test read; "" for none.
	Pin string
	// Local tells that the last test found an image that came from no registry.
	Local bool
}

// QualificationProps is a platform's qualification for a company.
type QualificationProps struct {
	state     QualificationShownState
	env       environment.Environment
	q         Qualification
	image     string
	mayManage bool
	oob       bool
	now       time.Time
}

// NewQualification makes panel and notice.
func NewQualification(e environment.Environment, q Qualification, mayManage bool, now time.Time) QualificationProps {
	p := QualificationProps{state: QualificationShownState(q.Admission.State), env: e, q: q, image: sandboxImage(e.Config), mayManage: mayManage, now: now}
	if q.Company == nil && p.state != QualificationNotRequired {
		p.state = QualificationPick
	}
	if p.state == "" {
		p.state = QualificationAbsent
	}
	return p
}

// Beside is the notice as a part of an answer that is about something else.
func (p QualificationProps) Beside() QualificationProps {
	p.oob = true
	return p
}

func (p QualificationProps) pill() pill {
	switch p.state {
	case QualificationRecorded:
		return pill{ui.OK, "Recorded"}
	case QualificationStale:
		return pill{ui.Warn, "Stale"}
	case QualificationRevoked:
		return pill{ui.Bad, "Revoked"}
	case QualificationNotRequired:
		return pill{ui.OK, "Not required"}
	case QualificationPick:
		return pill{ui.Plain, "Pick a company"}
	}
	return pill{ui.Plain, "Absent"}
}

func (p QualificationProps) tone() ui.Tone { return p.pill().tone }

// company is whose it is, by name.
func (p QualificationProps) company() string {
	if p.q.Company == nil {
		return ""
	}
	return p.q.Company.Name
}

func (p QualificationProps) companyID() string {
	if p.q.Company == nil {
		return ""
	}
	return p.q.Company.ID.String()
}

// verdict is the state in one sentence.
func (p QualificationProps) verdict() string {
	switch p.state {
	case QualificationRecorded:
		return "Qualified for " + p.company() + ": native work starts from exactly this image."
	case QualificationStale:
		return "Stale for " + p.company() + ": what is saved now is not what was measured."
	case QualificationRevoked:
		return "Revoked for " + p.company() + ": " + environment.RevocationText(p.q.RevokedFor) + "."
	case QualificationNotRequired:
		return "Not required: the platform itself selects this image."
	case QualificationPick:
		return "A qualification belongs to one company. Pick one to see how it stands."
	}
	return "Not qualified for " + p.company() + "."
}

// next says what to do about it; "" for nothing.
func (p QualificationProps) next() string {
	switch p.state {
	case QualificationRecorded:
		return "Editing the image, the engine or a credential revokes it, and so does a test that fails."
	case QualificationStale:
		return "Test again for this company."
	case QualificationRevoked:
		return "Setting back what was changed does not lift it. Test again for this company."
	case QualificationNotRequired, QualificationPick:
		return ""
	}
	switch {
	case p.q.Pin != "":
		return "Pin the digest that the test found, then test again."
	case p.q.Local && NewImageParts(p.image).state != ImagePinned:
		return "The engine has this image from no registry, so there is no digest to pin. Push it to a registry, save the name that it has there, and test again."
	case NewImageParts(p.image).state != ImagePinned:
		return "Test it once, which reads the image's digest; then pin that and test again."
	}
	return "Test it for this company."
}

// why is what the last test said, where it says more than the state does.
func (p QualificationProps) why() string {
	if p.q.Last == nil || p.state == QualificationRecorded || p.state == QualificationNotRequired || p.state == QualificationPick {
		return ""
	}
	return p.q.Last.Message
}

// facts are what was measured, and when.
func (p QualificationProps) facts() []ui.Pair {
	var pairs []ui.Pair
	if p.image != "" {
		pairs = append(pairs, ui.Pair{Key: "Image", Value: p.image, Code: true})
	}
	if p.q.Platform != nil {
		measured := platformText(p.q.Platform)
		if p.q.MeasuredAt != nil {
			measured += ", on a fresh sandbox, " + ui.Ago(*p.q.MeasuredAt, p.now)
		}
		pairs = append(pairs, ui.Pair{Key: "Measured", Value: measured})
	}
	switch p.state {
	case QualificationRecorded:
		pairs = append(pairs, ui.Pair{Key: "Cleanup", Value: "confirmed by the provider"}, ui.Pair{Key: "For", Value: p.company() + ", and this configuration only"})
	case QualificationRevoked:
		at := ""
		if p.q.RevokedAt != nil {
			at = ui.Ago(*p.q.RevokedAt, p.now) + ", " + ui.Date(*p.q.RevokedAt)
		}
		pairs = append(pairs, ui.Pair{Key: "Because", Value: environment.RevocationText(p.q.RevokedFor)},
			ui.Pair{Key: "By", Value: cmp.Or(p.q.RevokedBy, "Berth itself")})
		if at != "" {
			pairs = append(pairs, ui.Pair{Key: "When", Value: at})
		}
	}
	return pairs
}

// canPin: one click saves the digest.
func (p QualificationProps) canPin() bool {
	return p.mayManage && p.q.Pin != "" && !p.env.Managed
}

// PinPath is where the digest of the last test is saved.
func PinPath(id uuid.UUID) string { return EnvironmentPath(id) + "/pin-image" }

// proves says what a qualification is of, and of what not.
func (p QualificationProps) proves() string {
	return "It says that this image was booted and measured as this platform for one company, and cleaned up. It says nothing of a model's account or of an agent's harness."
}
