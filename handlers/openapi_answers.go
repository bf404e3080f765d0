package handlers

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// responses are an operation's answers, good and bad, by status.
func responses(made *shapes, op operation, refusal *schema) map[string]docResponse {
	out := map[string]docResponse{}
	for _, reply := range op.answers {
		key := strconv.Itoa(reply.status)
		one, known := out[key]
		if !known {
			one = docResponse{Description: http.StatusText(reply.status), Headers: map[string]docHeader{}, Content: map[string]docMedia{}}
		}
		if reply.body != nil {
			one.Content["application/json"] = docMedia{made.of(reply.body)}
		}
		if reply.kind != "" {
			one.Content[reply.kind] = docMedia{&schema{Type: "string"}}
		}
		for _, name := range reply.headers {
			one.Headers[name] = docHeader{Ref: "#/components/headers/" + name}
		}
		out[key] = one
	}
	for _, status := range refusals(op) {
		one := docResponse{Description: http.StatusText(status), Content: map[string]docMedia{"application/json": {refusal}}}
		if name := refusalHeader(status); name != "" {
			one.Headers = map[string]docHeader{name: {Ref: "#/components/headers/" + name}}
		}
		out[strconv.Itoa(status)] = one
	}
	if isLimited(op) {
		for _, one := range out {
			for _, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
				if one.Headers != nil {
					one.Headers[name] = docHeader{Ref: "#/components/headers/" + name}
				}
			}
		}
	}
	return out
}

// refusalHeader is the header that a refusal of a status brings.
func refusalHeader(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "WWW-Authenticate"
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return "Retry-After"
	}
	return ""
}

// isLimited reports whether an operation may be asked for only so often.
func isLimited(op operation) bool {
	route := op.method + " " + op.path
	return slices.Contains(signInRoutes(), route) || slices.Contains(probeRoutes(), route)
}

// refusals are the statuses with which an operation may refuse.
func refusals(op operation) []int {
	all := []int{400, 401, 403, 414, 500, 503, 504}
	if isLimited(op) {
		all = append(all, 429)
	}
	if strings.Contains(op.path, "/:") {
		all = append(all, 404)
	}
	if op.body != nil {
		all = append(all, 408, 413, 415)
	}
	return append(all, op.fails...)
}

func headers() map[string]docHeader {
	described := map[string]string{
		"ETag": `the revision, "3"`, "Link": `the next page: <...>; rel="next"`, "Location": "the address of what was made",
		"Set-Cookie": "the session", "Content-Disposition": "the name of the file",
		"X-Berth-Next-Offset": "where to go on", "X-Berth-Done": "true: nothing will follow", "X-Berth-Truncated": "true: the middle was cut",
		"X-Berth-Size": "of the whole file, in bytes", "WWW-Authenticate": "Bearer", "Retry-After": "in how many seconds to try again",
		"RateLimit-Limit": "how often a minute", "RateLimit-Remaining": "how often still", "RateLimit-Reset": "seconds until all of it is back",
	}
	out := make(map[string]docHeader, len(described))
	for name, description := range described {
		out[name] = docHeader{Description: description, Schema: &schema{Type: "string"}}
	}
	return out
}
