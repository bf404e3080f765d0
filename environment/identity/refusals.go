package identity

import (
	"fmt"

	"berth/environment"
)

// SessionEnded is the refusal of a session that does not count.
func SessionEnded() *environment.Error {
	return environment.NewError(environment.KindUnauthenticated, "session_ended", "Your session has ended. Sign in again.")
}

// InvalidKey is the refusal of a bearer text that does not count, whyever.
func InvalidKey() *environment.Error {
	return environment.NewError(environment.KindUnauthenticated, "invalid_key", "This key does not count here.").
		Remedy("It may be mistyped, revoked or expired, or its holder disabled. Make a new one.")
}

// EmailTaken is the refusal of an address that somebody has already.
func EmailTaken() *environment.Error {
	e := environment.Conflict("email_taken", "Somebody with this e-mail address is here already.")
	e.Fields = []environment.FieldError{{Field: "email", Message: e.Message}}
	return e
}

// LastAdmin is the refusal to leave the instance without anybody who can manage it.
func LastAdmin() *environment.Error {
	return environment.Conflict("last_admin", "This is the last instance admin who can sign in.").
		Remedy("Make somebody else an instance admin first.")
}

// TooManyKeys is the refusal of one more key than there may be.
func TooManyKeys(most int) *environment.Error {
	return environment.Conflict("too_many_keys", fmt.Sprintf("There are %d already, which is the most.", most)).
		Remedy("Revoke one that nobody uses.")
}

// AdminExists is the refusal of the first admin's link once there is an admin.
func AdminExists() *environment.Error {
	return environment.Conflict("admin_exists", "There is an instance admin already.").
		Remedy("Ask an instance admin for an invitation.")
}

// LinkNotFound is the refusal of a link that never was, or is long gone.
func LinkNotFound() *environment.Error {
	return environment.NewError(environment.KindNotFound, "link_not_found", "This link is not one of this server's.").
		Remedy("Links are long: check that it was copied whole. Else ask for a new one.")
}

// LinkUsed is the refusal of a link that is not open any more. why is "used",
// "expired" or "revoked".
func LinkUsed(why string) *environment.Error {
	message := map[string]string{"used": "This link was used already.", "expired": "This link has expired.",
		"revoked": "This link was taken back."}[why]
	return environment.Conflict("link_used", message).Remedy("Ask for a new one.").With("why", why)
}

// WhyClosed says why a link is not open; "" when neither use nor revocation is
// the reason and expired is false.
func WhyClosed(l environment.Link, expired bool) string {
	switch {
	case l.UsedAt != nil:
		return "used"
	case l.RevokedAt != nil:
		return "revoked"
	case expired:
		return "expired"
	}
	return ""
}
