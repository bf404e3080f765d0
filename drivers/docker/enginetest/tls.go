package enginetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// TLS is how an engine is reached by TCP. The texts are PEM.
type TLS struct {
	Host string // "tcp://127.0.0.1:port"
	CA   string
	Cert string // the client's
	Key  string
}

// newTLS makes the certificates of an engine and of a client, and picks a port.
func newTLS(dir string) (*TLS, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	ca, err := newIssuer()
	if err != nil {
		return nil, err
	}
	serverCert, serverKey, err := ca.issue("engine", x509.ExtKeyUsageServerAuth)
	if err != nil {
		return nil, err
	}
	clientCert, clientKey, err := ca.issue("client", x509.ExtKeyUsageClientAuth)
	if err != nil {
		return nil, err
	}
	t := &TLS{Host: fmt.Sprintf("tcp://127.0.0.1:%d", port), CA: ca.text, Cert: clientCert, Key: clientKey}
	return t, errors.Join(os.WriteFile(filepath.Join(dir, "ca.pem"), []byte(ca.text), 0o600),
		os.WriteFile(filepath.Join(dir, "cert.pem"), []byte(serverCert), 0o600),
		os.WriteFile(filepath.Join(dir, "key.pem"), []byte(serverKey), 0o600))
}

func (t *TLS) args(dir string) []string {
	return []string{"--host", t.Host, "--tlsverify", "--tlscacert", filepath.Join(dir, "ca.pem"),
		"--tlscert", filepath.Join(dir, "cert.pem"), "--tlskey", filepath.Join(dir, "key.pem")}
}

// freePort is a port of the loopback that nobody has.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	return port, listener.Close()
}

type issuer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	text string
}

func newIssuer() (*issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tests"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return &issuer{cert: template, key: key, text: pemText("CERTIFICATE", der)}, nil
}

func (i *issuer) issue(name string, usage x509.ExtKeyUsage) (cert, key string, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", fmt.Errorf("make the key of the %s: %w", name, err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{usage},
		NotBefore: i.cert.NotBefore, NotAfter: i.cert.NotAfter}
	der, err := x509.CreateCertificate(rand.Reader, template, i.cert, &private.PublicKey, i.key)
	if err != nil {
		return "", "", fmt.Errorf("make the certificate of the %s: %w", name, err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", "", fmt.Errorf("write the key of the %s: %w", name, err)
	}
	return pemText("CERTIFICATE", der), pemText("PRIVATE KEY", pkcs8), nil
}

func pemText(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}
