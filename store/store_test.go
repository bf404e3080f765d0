package store_test

import (
	"testing"

	"berth/environment/environmenttest"
	"berth/store/storetest"
)

func TestPostgres(t *testing.T) {
	environmenttest.TestStore(t, func(t *testing.T) environmenttest.Stores { return storetest.NewStores(t) })
}
