package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"berth/environment"
	"berth/environment/identity"

	"github.com/lib/pq"
)

// errPatience is the cause of a statement that was given up on.
var errPatience = errors.New("the database took too long")

// errLostRace asks for the transaction to be done again.
var errLostRace = errors.New("another transaction came in between")

// SQLSTATEs and their classes that mean something to Berth.
const (
	uniqueViolation     = "23505"
	foreignKeyViolation = "23503"
	serializationFailed = "40001"
	deadlockDetected    = "40P01"
	readOnlyTransaction = "25006"
	adminShutdown       = "57P01"
	crashShutdown       = "57P02"
	diskFull            = "53100"
	oldSeal             = "BK001" // of refuse_old_seal, a trigger

	connectionClass   = "08" // connection exception
	dataClass         = "22" // a value that cannot be one of its type
	interventionClass = "57" // shut down, starting up, cancelled
	resourcesClass    = "53" // disk full, out of memory, too many connections
	systemClass       = "58" // input or output on the database's own files
)

// lostRace reports whether the same transaction may go through when it is done
// again.
func lostRace(err error) bool {
	code := sqlstate(err)
	return code == serializationFailed || code == deadlockDetected || errors.Is(err, errLostRace)
}

// away reports whether err says that the database does not answer, or cannot
// take anything now.
func away(err error) bool {
	if code := sqlstate(err); code != "" {
		switch code[:2] {
		case connectionClass, interventionClass, resourcesClass, systemClass:
			return true
		}
		return code == readOnlyTransaction
	}
	_, isNet := errors.AsType[net.Error](err)
	return isNet || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// lostConnection reports whether err says that a connection which had been made
// is no more; not that none can be made, nor that the wait for it was too long.
func lostConnection(err error) bool {
	if code := sqlstate(err); code != "" {
		return code == adminShutdown || code == crashShutdown || code[:2] == connectionClass
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return false
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
		return false
	}
	return away(err)
}

// isData reports whether err says that a value cannot be one of its type.
func isData(err error) bool { return strings.HasPrefix(sqlstate(err), dataClass) }

func sqlstate(err error) string {
	if e, ok := errors.AsType[*pq.Error](err); ok {
		return string(e.Code)
	}
	return ""
}

// translate turns what the driver says into what Berth says. Domain errors pass
// as they are.
func translate(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*environment.Error](err); ok {
		return err
	}
	cause := fmt.Errorf("%s: %w", what, err)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return environment.NewError(environment.KindTimeout, "timed_out", "The database did not answer in time.").Because(cause)
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", what, errors.Join(ctx.Err(), err))
	case sqlstate(err) == diskFull:
		return full().Because(cause)
	case errors.Is(err, context.DeadlineExceeded), away(err):
		return unavailable().Because(cause)
	}
	if e, ok := errors.AsType[*pq.Error](err); ok {
		if refusal := violation(e); refusal != nil {
			return refusal.Because(cause)
		}
	}
	return cause
}

func unavailable() *environment.Error {
	return environment.Unavailable("database_unavailable", "The database does not answer.").
		Remedy("Berth tries again by itself. Look at the database server if it stays so.")
}

func full() *environment.Error {
	return environment.Unavailable("database_unavailable", "The database's disk is full.").
		Remedy("Free some disk where the database lies. Berth tries again by itself.")
}

// violation says which rule of the schema a write broke.
func violation(e *pq.Error) *environment.Error {
	switch {
	case e.Code == oldSeal:
		return environment.Conflict(environment.CodeKeysetChanged, "The master key was turned over meanwhile.").
			Remedy("Try again. If it stays so, this server's keyset file is an old copy: give it the file that the other servers use.")
	case e.Code == foreignKeyViolation && e.Constraint == "secret_bindings_secret":
		return environment.Invalid(environment.CodeSecretMissing, "There is no such secret.")
	case e.Code == uniqueViolation && strings.HasSuffix(e.Constraint, "_name_key"):
		taken := environment.Conflict(environment.CodeNameTaken, "This name is taken.")
		taken.Fields = []environment.FieldError{{Field: "name", Message: "This name is taken."}}
		return taken
	case e.Code == uniqueViolation && e.Constraint == "people_email_key":
		return identity.EmailTaken()
	case e.Code == uniqueViolation && strings.HasPrefix(e.Constraint, "leases_one_"):
		return environment.LeaseInUse()
	case e.Code == uniqueViolation && e.Constraint == "environments_one_managed":
		return environment.Conflict(environment.CodeEnvironmentManaged, "There is one managed sandbox already.")
	case e.Code == uniqueViolation && e.Constraint == "environments_one_local":
		return environment.Conflict("local_exists", "There is one local environment already.")
	case e.Code == foreignKeyViolation && strings.Contains(e.Constraint, "company"):
		return environment.NotFound("company")
	case e.Code == foreignKeyViolation && strings.Contains(e.Constraint, "environment"):
		return environment.NotFound("environment")
	case e.Code == foreignKeyViolation && strings.Contains(e.Constraint, "person"):
		return environment.NotFound("person")
	case e.Code == foreignKeyViolation && strings.Contains(e.Constraint, "agent"):
		return environment.NotFound("agent")
	}
	return nil
}
