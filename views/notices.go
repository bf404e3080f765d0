package views

// The notices of secrets.
const (
	NoticeSecretCreated  Notice = "secret-created"
	NoticeSecretSaved    Notice = "secret-saved"
	NoticeSecretRotated  Notice = "secret-rotated"
	NoticeSecretDisabled Notice = "secret-disabled"
	NoticeSecretEnabled  Notice = "secret-enabled"
	NoticeSecretDeleted  Notice = "secret-deleted"
)

// ofSecrets is Text for what concerns companies' secrets.
func (n Notice) ofSecrets() string {
	switch n {
	case NoticeSecretCreated:
		return "Secret added. Environments can choose it now."
	case NoticeSecretSaved:
		return "Secret saved."
	case NoticeSecretRotated:
		return "New version stored. What follows the latest takes it with its next use."
	case NoticeSecretDisabled:
		return "Secret disabled. Nothing opens it until it is enabled."
	case NoticeSecretEnabled:
		return "Secret enabled."
	case NoticeSecretDeleted:
		return "Secret deleted."
	}
	return ""
}
