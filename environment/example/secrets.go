package example

import (
	"time"

	"berth/environment"

	"github.com/google/uuid"
)

// Secrets are Acme's, by name: one with three versions, one with one, one that is
// disabled.
func Secrets() []environment.StoredSecret {
	shared := func(n byte, name string, version int) environment.StoredSecret {
		return environment.StoredSecret{ID: id(0x0a, n), CompanyID: pointer(Acme().ID), Name: name, LatestVersion: version, CreatedBy: "dana",
			CreatedAt: Before(time.Duration(n) * 20 * 24 * time.Hour), UpdatedAt: Before(time.Duration(n) * 26 * time.Hour)}
	}
	key, npm, old := shared(1, "deploy-key", 3), shared(2, "npm-token", 1), shared(3, "old-registry", 2)
	key.Description, old.Disabled = pointer("Logs in to the build machines"), true
	return []environment.StoredSecret{key, npm, old}
}

// GlobexSecret is another company's.
func GlobexSecret() environment.StoredSecret {
	s := Secrets()[1]
	s.ID, s.CompanyID, s.Name = id(0x0a, 9), pointer(Globex().ID), "build-password"
	return s
}

// SecretVersions are those of the first of Secrets, newest first.
func SecretVersions() []environment.SecretVersion {
	var all []environment.SecretVersion
	for n := 3; n > 0; n-- {
		all = append(all, environment.SecretVersion{ID: id(0x0b, byte(n)), SecretID: Secrets()[0].ID, Version: n, CreatedAt: Before(time.Duration(4-n) * 26 * time.Hour), CreatedBy: "dana"})
	}
	return all
}

// SecretBindings are the uses of the first of Secrets: the latest, and one
// version.
func SecretBindings() []environment.SecretBinding {
	binding := func(e environment.EnvironmentView, path, version string) environment.SecretBinding {
		return environment.SecretBinding{EnvironmentID: e.ID, EnvironmentName: e.Name, ConfigPath: path, SecretID: Secrets()[0].ID, CompanyID: Acme().ID, Version: version}
	}
	return []environment.SecretBinding{binding(ReadySSH(), "config.privateKey", "latest"), binding(WarningSSH(), "envVars.DEPLOY_KEY", "2")}
}

// SecretAccesses are openings of the first of Secrets, newest first.
func SecretAccesses() []environment.SecretAccess {
	access := func(n byte, ago time.Duration, purpose environment.SecretPurpose, outcome string, version int) environment.SecretAccess {
		return environment.SecretAccess{ID: id(0x0c, n), SecretID: Secrets()[0].ID, Version: version, EnvironmentID: pointer(uuid.UUID(ReadySSH().ID)),
			CompanyID: pointer(Acme().ID), ConfigPath: "config.privateKey", Purpose: purpose, ActorName: "dana", Outcome: outcome, At: Before(ago)}
	}
	run := access(1, 4*time.Minute, environment.ForRun, "opened", 3)
	run.RunID = pointer(uuid.UUID(Run(environment.RunSucceeded).ID))
	return []environment.SecretAccess{run, access(2, 40*time.Minute, environment.ForProbe, environment.CodeSecretDisabled, 0), access(3, 26*time.Hour, environment.ForProbe, "opened", 2)}
}

// SecretReferences are build-box's: an owned key, and a token that is its own.
func SecretReferences() map[string]environment.SecretReference {
	key, token := StoredSecret(), StoredSecret()
	token.ID, token.Name = id(0x08, 2), "NPM_TOKEN"
	return map[string]environment.SecretReference{
		"config.privateKey": {Ref: environment.RefTo(key.ID), Secret: &key},
		"envVars.NPM_TOKEN": {Ref: environment.RefTo(token.ID), Secret: &token},
	}
}

// SharedReference leads to a company's secret; version is "latest" or a number.
func SharedReference(s environment.StoredSecret, version string) environment.SecretReference {
	r := environment.SecretReference{Ref: environment.RefTo(s.ID), Secret: &s, Company: Acme().Name}
	r.Ref.Version = version
	if *s.CompanyID == Globex().ID {
		r.Company = Globex().Name
	}
	return r
}
