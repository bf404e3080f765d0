package catalogue_test

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"testing"
	"time"

	"berth/environment"
	"berth/environment/catalogue"
)

// TestEveryMethodAsksFirst calls each method that takes an actor as nobody, on a
// catalogue without a store: one that read before it asked would panic.
func TestEveryMethodAsksFirst(t *testing.T) {
	service := reflect.ValueOf(catalogue.New(nil, nil, nil, time.Now, slog.New(slog.DiscardHandler)))
	// For other services of this process, which have asked already.
	internal := []string{"Admission", "CleanupSpec", "CompanyOf", "ConfigProblems", "EnsureLocal", "Fingerprints", "Flags", "PinFirstUse",
		"ProvisionManaged", "Revision", "Run", "Schema", "Serves", "Spec"}
	tried := 0
	for method, fn := range service.Methods() {
		if slices.Contains(internal, method.Name) {
			continue
		}
		tried++
		t.Run(method.Name, func(t *testing.T) {
			args := []reflect.Value{}
			for i := range fn.Type().NumIn() {
				args = append(args, reflect.Zero(fn.Type().In(i)))
			}
			args[0] = reflect.ValueOf(context.Background())
			if args[1].Type() != reflect.TypeFor[environment.Actor]() {
				t.Fatalf("%s takes no actor", method.Name)
			}
			out := fn.Call(args)
			err, _ := out[len(out)-1].Interface().(error)
			want(t, err, environment.KindUnauthenticated, "unauthenticated")
		})
	}
	if tried < 21 {
		t.Errorf("only %d methods were tried", tried)
	}
}
