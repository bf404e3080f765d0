package views

import "berth/environment"

// ErrorPageState is what went wrong with a whole page.
type ErrorPageState string

// The states of the error page.
const (
	ErrorNotFound     ErrorPageState = "not-found"
	ErrorForbidden    ErrorPageState = "forbidden"
	ErrorRefused      ErrorPageState = "refused" // the request cannot be done as it is
	ErrorDatabaseAway ErrorPageState = "database-away"
	ErrorServer       ErrorPageState = "server-error"
)

// ErrorPageProps is a page that could not be shown.
type ErrorPageProps struct {
	state     ErrorPageState
	title     string
	err       *environment.Error
	requestID string
	account   string
	home      bool
}

// For says who is signed in ("" for nobody who has an account), and whether the
// environments are open to whoever asks.
func (p ErrorPageProps) For(account string, home bool) ErrorPageProps {
	p.account, p.home = account, home
	return p
}

// NewErrorPage makes it from a refusal. requestID leads to the server's log.
func NewErrorPage(err *environment.Error, requestID string) ErrorPageProps {
	p := ErrorPageProps{err: err, requestID: requestID}
	switch err.Kind {
	case environment.KindNotFound:
		p.state, p.title = ErrorNotFound, "Not found"
	case environment.KindForbidden, environment.KindUnauthenticated:
		p.state, p.title = ErrorForbidden, "Not allowed"
	case environment.KindUnavailable, environment.KindTimeout:
		p.state, p.title = ErrorDatabaseAway, "Berth cannot answer right now"
	case environment.KindInternal:
		p.state, p.title = ErrorServer, "Something went wrong"
	default:
		p.state, p.title = ErrorRefused, "That did not work"
	}
	return p
}

// Title is the title of the page.
func (p ErrorPageProps) Title() string { return p.title }

func (p ErrorPageProps) text() string {
	t := p.err.Message
	if p.err.Remediation != "" {
		t += " " + p.err.Remediation
	}
	if p.state == ErrorDatabaseAway && p.err.Remediation == "" {
		t += " Nothing that was saved is lost; this page works again as soon as the database answers."
	}
	return t
}

func (p ErrorPageProps) retry() bool { return p.state == ErrorDatabaseAway || p.state == ErrorServer }
