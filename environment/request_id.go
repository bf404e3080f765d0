package environment

import "context"

type requestIDKey struct{}

// WithRequestID notes the id of the request that ctx serves, so that the
// activity log can name it.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID returns the id noted in ctx, "" when there is none.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}
