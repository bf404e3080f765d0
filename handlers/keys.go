package handlers

import (
	"net/http"

	"berth/environment"
	"berth/handlers/api"

	"github.com/labstack/echo/v4"
)

// keyGenerateBody describes a new key pair.
type keyGenerateBody struct {
	Comment string `json:"comment,omitempty"`
}

// keyInspectBody is a key in any format that OpenSSH knows.
type keyInspectBody struct {
	Key        string `json:"key,omitempty"`
	Passphrase string `json:"passphrase,omitempty"`
}

// sshConfigBody is a block of an ssh client's config.
type sshConfigBody struct {
	Text string `json:"text,omitempty"`
}

// keyGenerate answers POST /api/ssh-keys/generate with a new pair. The private
// half is in this one answer and nowhere else: nothing is stored.
func (s *server) keyGenerate(c echo.Context) error {
	var body keyGenerateBody
	if err := decodeOptionalBody(c, &body); err != nil {
		return err
	}
	private, facts, err := s.Catalogue.GenerateKey(c.Request().Context(), s.actor(c), body.Comment)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusCreated, api.KeyPair{PrivateKey: private.Reveal(), KeyFacts: facts})
}

// keyInspect answers POST /api/ssh-keys/inspect with what may be shown of a key.
func (s *server) keyInspect(c echo.Context) error {
	var body keyInspectBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	facts, err := s.Catalogue.InspectKey(c.Request().Context(), s.actor(c),
		environment.NewSecret(body.Key), environment.NewSecret(body.Passphrase))
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, facts)
}

// sshConfigRead answers POST /api/ssh-config/read: config keys out of a pasted
// block of an ssh client's config.
func (s *server) sshConfigRead(c echo.Context) error {
	var body sshConfigBody
	if err := decodeBody(c, &body); err != nil {
		return err
	}
	config, ignored, err := s.Catalogue.ReadSSHConfig(c.Request().Context(), s.actor(c), body.Text)
	if err != nil {
		return err
	}
	if ignored == nil {
		ignored = []string{}
	}
	return writeJSON(c, http.StatusOK, api.ClientConfig{Config: config, Ignored: ignored})
}
