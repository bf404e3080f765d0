package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"berth/handlers/api"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func (a *app) loginCommand() *cobra.Command {
	var email, passwordFile, name string
	cmd := &cobra.Command{
		Use:   "login --email ADDRESS [--password-file FILE]",
		Short: "Sign in: get a personal token and keep it for this server",
		Long: `Sign in with e-mail address and password. The server gives a personal token,
which is kept in a file that only you can read (BERTH_CREDENTIALS, else
~/.config/berth/credentials.json) and used from then on for this --api-base.`,
		Args: exactly(),
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		stored, err := a.credentials()
		if err != nil {
			return err
		}
		if email == "" {
			if email, err = a.askLine("E-mail: "); err != nil {
				return err
			}
		}
		password, err := a.password(passwordFile)
		if err != nil {
			return err
		}
		c, err := a.clientWith("")
		if err != nil {
			return err
		}
		var made api.MadeKey
		body := api.SignInForToken{Email: email, Password: password, Name: name}
		if err := c.call(cmd.Context(), request{method: http.MethodPost, path: "/auth/token", body: body, into: &made}); err != nil {
			return err
		}
		stored.all[a.base()] = credential{Token: made.Token, KeyID: made.ID, Email: email}
		if err := stored.save(); err != nil {
			return err
		}
		return a.show(made.Key, func(w io.Writer) {
			writef(w, "Signed in at %s as %s. The token is kept in %s.\n", a.base(), printable(email), stored.path)
		})
	}
	cmd.Flags().StringVar(&email, "email", "", "e-mail address")
	cmd.Flags().StringVar(&passwordFile, "password-file", "", "`file` with the password, - for standard input; without it you are asked")
	cmd.Flags().StringVar(&name, "name", a.tokenName(), "name of the token, to know it by in your account")
	return cmd
}

// tokenName is what a token is called unless told: the machine's name.
func (a *app) tokenName() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		return "command line"
	}
	return "berth on " + host
}

// askLine reads one line from a terminal.
func (a *app) askLine(question string) (string, error) {
	if !interactive(a.env.In) {
		return "", &usageError{"--email is needed when there is no terminal to ask at"}
	}
	writef(a.env.Err, "%s", question)
	line, err := bufio.NewReader(a.env.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	return strings.TrimSpace(line), nil
}

// password reads a file or standard input, or asks a terminal without echo.
func (a *app) password(file string) (string, error) {
	if file != "" {
		text, err := (&inputs{}).read(a, "password-file", file)
		return dropLineEnd(text), err
	}
	f, ok := a.env.In.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return "", &usageError{"--password-file is needed when there is no terminal to ask at"}
	}
	writef(a.env.Err, "Password: ")
	text, err := term.ReadPassword(int(f.Fd()))
	writef(a.env.Err, "\n")
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return string(text), nil
}

func (a *app) logoutCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "logout",
		Short: "Revoke the token that login got, and forget it",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			stored, err := a.credentials()
			if err != nil {
				return err
			}
			mine, ok := stored.all[a.base()]
			if !ok {
				return a.show(nothing{OK: true}, func(w io.Writer) { writef(w, "Nobody is signed in at %s.\n", a.base()) })
			}
			c, err := a.clientWith(mine.Token)
			if err != nil {
				return err
			}
			err = c.call(cmd.Context(), remove("/account/tokens/"+mine.KeyID.String()))
			if refused, ok := errors.AsType[*apiError](err); err != nil && (!ok || refused.Status != http.StatusUnauthorized) {
				return err // still counts: keep it, so that logout can be tried again
			}
			if err := stored.without(a.base()).save(); err != nil {
				return err
			}
			return a.show(nothing{OK: true}, func(w io.Writer) { writef(w, "Signed out at %s.\n", a.base()) })
		},
	}
}

func (a *app) whoamiCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "whoami",
		Short: "Show as whom the server knows this command line",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(a, cmd.Context(), get("/cli-auth/me"), func(w io.Writer, me api.Me) {
				switch {
				case me.User != nil && me.IsInstanceAdmin:
					writef(w, "%s <%s>, instance admin\n", printable(me.User.Name), printable(me.User.Email))
				case me.User != nil:
					writef(w, "%s <%s>\n", printable(me.User.Name), printable(me.User.Email))
				case me.Agent != nil:
					writef(w, "agent %s of company %s\n", printable(me.Agent.Name), me.Agent.CompanyID)
				default:
					writef(w, "the local operator\n")
				}
			})
		},
	}
}
