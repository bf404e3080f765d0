package ssh

import (
	"slices"
	"strings"
	"time"

	"berth/environment"

	gossh "golang.org/x/crypto/ssh"
)

// pins are the lines of a known_hosts text that speak of one host and port.
type pins struct {
	ep      endpoint
	keys    []gossh.PublicKey // trusted for this host and port
	cas     []gossh.PublicKey // whose host certificates are trusted
	revoked []gossh.PublicKey
}

// pinsFor picks the lines of a host. A plain key counts for its own port only,
// so that two daemons behind one address do not fight; an authority vouches for
// the host's name and a revoked key is bad everywhere, so both also count when
// the line names no port.
func pinsFor(known []knownHost, ep endpoint) pins {
	p := pins{ep: ep}
	exact := canonicalName(ep.name())
	bare := canonicalName(environment.KnownHostsName(ep.host, 22))
	for _, line := range known {
		switch {
		case line.marker == "" && matchNames(line.names, exact):
			p.keys = append(p.keys, line.key)
		case line.marker == markCA && (matchNames(line.names, exact) || matchNames(line.names, bare)):
			p.cas = append(p.cas, line.key)
		case line.marker == markRevoked && (matchNames(line.names, exact) || matchNames(line.names, bare)):
			p.revoked = append(p.revoked, line.key)
		}
	}
	return p
}

// none reports whether nothing is trusted for the host yet.
func (p pins) none() bool { return len(p.keys) == 0 && len(p.cas) == 0 }

// trusted shows the pinned keys.
func (p pins) trusted() []environment.HostKey {
	keys := make([]environment.HostKey, 0, len(p.keys))
	for _, key := range p.keys {
		keys = append(keys, hostKeyOf(p.ep.name(), key))
	}
	return keys
}

// algorithms are the host key algorithms to ask for: those of the pinned types
// only, so that a server with several keys presents one that can be compared.
// Certificates are asked for when an authority is trusted. SHA-1 never is.
func (p pins) algorithms() []string {
	var algorithms []string
	if len(p.cas) > 0 {
		algorithms = append(algorithms, certAlgorithms()...)
	}
	if len(p.keys) == 0 {
		return append(algorithms, plainAlgorithms()...)
	}
	for _, algorithm := range plainAlgorithms() {
		if slices.ContainsFunc(p.keys, func(k gossh.PublicKey) bool { return k.Type() == keyTypeOf(algorithm) }) {
			algorithms = append(algorithms, algorithm)
		}
	}
	for _, key := range p.keys {
		if !slices.ContainsFunc(plainAlgorithms(), func(a string) bool { return keyTypeOf(a) == key.Type() }) {
			algorithms = append(algorithms, key.Type()) // a type without algorithms of its own, such as sk-...
		}
	}
	return algorithms
}

// verdict is what the pins say of a presented key.
type verdict int

const (
	keyTrusted verdict = iota
	keyUnknown         // nothing is trusted for the host
	keyChanged         // something else is
	keyRevoked
)

// check judges a presented key. The reason says more for a certificate.
func (p pins) check(key gossh.PublicKey, now time.Time) (v verdict, reason string) {
	cert, isCert := key.(*gossh.Certificate)
	bare := key
	if isCert {
		bare = cert.Key
	}
	if holds(p.revoked, bare) || (isCert && holds(p.revoked, cert.SignatureKey)) {
		return keyRevoked, ""
	}
	if isCert {
		if reason = p.checkCert(cert, now); reason == "" {
			return keyTrusted, ""
		}
	}
	switch {
	case holds(p.keys, bare):
		return keyTrusted, ""
	case len(p.keys) > 0:
		return keyChanged, reason
	case len(p.cas) > 0 && !isCert:
		return keyUnknown, "it has no certificate of the trusted authority"
	}
	return keyUnknown, reason
}

// checkCert returns why a host certificate does not count; "" when it does.
func (p pins) checkCert(cert *gossh.Certificate, now time.Time) string {
	if cert.CertType != gossh.HostCert {
		return "its certificate is not a host's"
	}
	if !holds(p.cas, cert.SignatureKey) {
		return "its certificate is not of a trusted authority"
	}
	checker := gossh.CertChecker{Clock: func() time.Time { return now }}
	if err := checker.CheckCert(p.ep.host, cert); err != nil {
		return "its certificate does not count: " + strings.TrimPrefix(err.Error(), "ssh: ")
	}
	return ""
}

func holds(keys []gossh.PublicKey, key gossh.PublicKey) bool {
	wanted := string(key.Marshal())
	return slices.ContainsFunc(keys, func(k gossh.PublicKey) bool { return string(k.Marshal()) == wanted })
}

// plainAlgorithms are the algorithms of plain host keys in the order in which
// they are preferred.
func plainAlgorithms() []string {
	return []string{
		gossh.KeyAlgoED25519, gossh.KeyAlgoECDSA256, gossh.KeyAlgoECDSA384, gossh.KeyAlgoECDSA521,
		gossh.KeyAlgoRSASHA512, gossh.KeyAlgoRSASHA256,
	}
}

func certAlgorithms() []string {
	return []string{
		gossh.CertAlgoED25519v01, gossh.CertAlgoECDSA256v01, gossh.CertAlgoECDSA384v01, gossh.CertAlgoECDSA521v01,
		gossh.CertAlgoRSASHA512v01, gossh.CertAlgoRSASHA256v01,
	}
}

// keyTypeOf is the type of the keys that an algorithm signs with.
func keyTypeOf(algorithm string) string {
	if algorithm == gossh.KeyAlgoRSASHA512 || algorithm == gossh.KeyAlgoRSASHA256 {
		return gossh.KeyAlgoRSA
	}
	return algorithm
}
