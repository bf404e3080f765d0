package handlers

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"berth/environment"
	"berth/views"

	"github.com/labstack/echo/v4"
)

// maxFormRows bounds the rows of variables that are read: one more than may be
// saved, so that the catalogue says what is wrong.
const maxFormRows = environment.MaxEnvVars + 20

// form reads the fields that a page posted.
func form(c echo.Context) (url.Values, error) {
	r := c.Request()
	if err := r.ParseForm(); err != nil {
		if isAnswer(err) {
			return nil, err
		}
		return nil, unreadable("invalid_form", "The form cannot be read.").Because(err)
	}
	for name, values := range r.PostForm {
		for _, v := range values {
			if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
				return nil, unreadableField("invalid_form", name, "%s holds characters that cannot be stored.", name)
			}
		}
	}
	return r.PostForm, nil
}

// formValues reads an environment's form.
func (s *server) formValues(c echo.Context) (views.FormValues, error) {
	f, err := form(c)
	if err != nil {
		return views.FormValues{}, err
	}
	v := views.FormValues{
		Name: f.Get("name"), Description: f.Get("description"), Driver: f.Get("driver"),
		Host: f.Get("config.host"), Port: f.Get("config.port"), Username: f.Get("config.username"), Workspace: f.Get("config.remoteWorkspacePath"),
		KnownHosts: lines(f.Get("config.knownHosts")), FirstUse: f.Has("firstUse"),
		RequiredTools: f.Get("config.requiredTools"), MinFreeMB: f.Get("config.minFreeMB"), ProxyJump: f.Get("config.proxyJump"),
		KeepAlive: f.Get("config.keepAliveSec"), Certificate: lines(f.Get("config.certificate")), UseAgent: f.Has("useAgent"),
	}
	if v.Driver == "" {
		v.Driver = environment.DriverSSH
	}
	v.Provider, v.OnlyVars, v.Budgeted = f.Get("config.provider"), f.Has("onlyVars"), f.Has("budget.accountLabel")
	v.Budget = views.BudgetValues{AccountLabel: f.Get("budget.accountLabel"), MaxLeases: f.Get("budget.maxLeases"),
		MinutesPerDay: f.Get("budget.leaseMinutesPerDay"), Note: lines(f.Get("budget.note"))}
	if err := s.formSettings(c, f, &v); err != nil {
		return v, err
	}
	if text := f.Get("id"); text != "" {
		id, err := idOf("environment", text)
		if err != nil {
			return v, err
		}
		v.ID = &id
	}
	if text := f.Get("revision"); text != "" {
		if v.Revision, err = strconv.Atoi(text); err != nil {
			return v, unreadableField("invalid_form", "revision", "The form does not say what it was made from. Load it again.")
		}
	}
	err = s.formSecrets(f, &v)
	return v, err
}

func secretOf(f url.Values, name string) environment.Secret {
	if strings.TrimSpace(f.Get(name)) == "" {
		return environment.Secret{}
	}
	return environment.NewSecret(f.Get(name))
}

// lines undoes what a browser makes of line breaks.
func lines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
