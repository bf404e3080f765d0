// Package fake is the scriptable sandbox provider for tests, previews and the demo.
package fake

import _ "github.com/creack/pty"
