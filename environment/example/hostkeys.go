package example

import "berth/environment"

// HostKeys are the three keys that build-box presents.
func HostKeys() []environment.HostKey {
	return []environment.HostKey{
		{Type: "ssh-ed25519", Fingerprint: "SHA256:3xT0Zr0Vd1v7uXl2qj2s1tT0m1Y2oGJ7bH9n6y8cQmE",
			KnownHostsLine: "[build.example.net]:2222 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE1Xb0mS2kq3g1Tz0o9v4bM0Qy6rJwC5dHc8uLx2pN7e"},
		{Type: "ecdsa-sha2-nistp256", Fingerprint: "SHA256:kQ8c4uYp0WcJt5w8D3nM2rX7fZs6vB1yLhE9gTa0iRo",
			KnownHostsLine: "[build.example.net]:2222 ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBOexample"},
		{Type: "rsa-sha2-512", Fingerprint: "SHA256:Zb5n7oP1qR3sT5uV7wX9yA1bC3dE5fG7hI9jK1lM3nO",
			KnownHostsLine: "[build.example.net]:2222 ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQexample"},
	}
}

// NewHostKey is what build-box presents after it was rebuilt.
func NewHostKey() environment.HostKey {
	return environment.HostKey{Type: "ssh-ed25519", Fingerprint: "SHA256:p7Wq2eR4tY6uI8oP0aS2dF4gH6jK8lZ0xC2vB4nM6qA",
		KnownHostsLine: "[build.example.net]:2222 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDnewkeyafterrebuild000000000000000000000000000"}
}

// KeyFacts are those of a stored private key.
func KeyFacts() environment.KeyFacts {
	return environment.KeyFacts{Type: "ssh-ed25519", Bits: 256, Fingerprint: "SHA256:9sE4rT6yU8iO0pA2sD4fG6hJ8kL0zX2cV4bN6mQ8wEr",
		PublicKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKexamplepublickey00000000000000000000000000000 berth"}
}

// WeakKeyFacts are those of a key that Berth warns about.
func WeakKeyFacts() environment.KeyFacts {
	return environment.KeyFacts{Type: "ssh-rsa", Bits: 1024, Fingerprint: "SHA256:1qW3eR5tY7uI9oP1aS3dF5gH7jK9lZ1xC3vB5nM7qWe",
		PublicKey: "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQexample berth", Encrypted: true,
		Warning: "weak key: RSA with 1024 bits; use ed25519 or RSA with 3072 bits"}
}
