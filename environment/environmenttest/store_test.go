package environmenttest_test

import (
	"testing"
	"time"

	"berth/environment/environmenttest"
)

func TestTwin(t *testing.T) {
	environmenttest.TestStore(t, func(*testing.T) environmenttest.Stores {
		return environmenttest.NewStore(func() time.Time { return time.Now().UTC().Truncate(time.Microsecond) })
	})
}
