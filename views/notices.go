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

// The notices of sandboxes.
const (
	NoticePinned         Notice = "pinned"
	NoticeLeaseReleased  Notice = "lease-released"
	NoticeLeaseDestroyed Notice = "lease-destroyed"
	NoticeCleanupGoesOn  Notice = "cleanup-goes-on"
)

// ofSandboxes is Text for images and leases.
func (n Notice) ofSandboxes() string {
	switch n {
	case NoticePinned:
		return "Digest pinned. Test again to qualify the platform."
	case NoticeLeaseReleased:
		return "Lease released."
	case NoticeLeaseDestroyed:
		return "Sandbox destroyed, as the provider confirmed."
	case NoticeCleanupGoesOn:
		return "The provider has not confirmed the end yet. The clean-up goes on by itself."
	}
	return ""
}

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
	return n.ofSandboxes()
}
