package leasing

import _ "github.com/cenkalti/backoff/v5"
