package probing

import (
	"regexp"
	"strconv"
	"strings"

	"berth/environment"
)

// examineScript is POSIX sh that needs few programs. Its arguments are the
// workspace and the required tools. The platform comes last: a program of the
// image that hangs then costs that alone. read takes one line of a program that
// may say much.
const examineScript = `say() { printf 'berth:%s=%s\n' "$1" "$2"; }
LC_ALL=C; export LC_ALL
say begin 1
w=$1; shift
[ -d "$w" ] || mkdir -p -- "$w" 2>/dev/null
t=$w/.berth-probe-$$
if ! cd -- "$w" 2>/dev/null; then say workspace missing
elif (set -C; : >"$t") 2>/dev/null; then rm -f -- "$t"; say workspace ok
else say workspace readonly; fi
i=0
for tool in "$@"; do
  r=missing
  case $tool in
  /*) if [ -f "$tool" ] && [ -x "$tool" ]; then r=ok; elif [ -e "$tool" ]; then r=noexec; fi ;;
  *)
    o=$IFS; IFS=:; set -f
    for p in $PATH; do
      if [ -f "$p/$tool" ] && [ -x "$p/$tool" ]; then r=ok; break; fi
      [ -f "$p/$tool" ] && r=noexec
    done
    IFS=$o; set +f ;;
  esac
  say "tool$i" "$r"; i=$((i+1))
done
first() { IFS= read -r l && say "$1" "$l"; IFS= read -r l && say "$1-next" "$l"; }
s=$(uname -s) && m=$(uname -m) && say system "$s" && say machine "$m"
getconf GNU_LIBC_VERSION 2>/dev/null | first getconf
ldd --version 2>&1 | first ldd
for f in /lib/ld-musl-*.so.1 /usr/lib/ld-musl-*.so.1; do
  if [ -e "$f" ]; then say musl found; "$f" 2>&1 | first loader; break; fi
done
for f in /lib64/ld-linux-*.so.2 /lib/ld-linux-*.so.* /usr/lib64/ld-linux-*.so.2 /lib/*/ld-linux-*.so.*; do
  if [ -e "$f" ]; then say glibc found; "$f" --version 2>&1 | first glibc-loader; break; fi
done
say end 1
`

// facts are what the command answered, not yet believed.
type facts struct {
	began     bool
	workspace string
	tools     map[int]string
	said      map[string]string
}

// factsOf reads the answer's lines; others are noise. The first word on a thing
// counts.
func factsOf(text string) facts {
	f := facts{tools: map[int]string{}, said: map[string]string{}}
	for line := range strings.SplitSeq(text, "\n") {
		pair, ok := strings.CutPrefix(line, "berth:")
		key, value, found := strings.Cut(pair, "=")
		if _, twice := f.said[key]; !ok || !found || twice {
			continue
		}
		f.said[key] = value
		if n, err := strconv.Atoi(strings.TrimPrefix(key, "tool")); err == nil && strings.HasPrefix(key, "tool") {
			f.tools[n] = value
		}
	}
	f.began, f.workspace = f.said["begin"] == "1", f.said["workspace"]
	return f
}

// platform puts the answers into Berth's words; false when system or machine is
// none that it knows. Libc is "" when no C library was found.
func (f facts) platform() (environment.Platform, bool) {
	p := environment.Platform{
		OS:   map[string]string{"Linux": "linux", "Darwin": "darwin"}[f.said["system"]],
		Arch: map[string]string{"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}[f.said["machine"]],
	}
	if p.OS == "" || p.Arch == "" {
		return environment.Platform{}, false
	}
	if p.OS == "darwin" {
		p.Libc = "none"
		return p, true
	}
	p.Libc, p.LibcVersion = f.libc()
	return p, true
}

// version is all that is taken of what a C library says of itself.
var (
	getconfLine = regexp.MustCompile(`^glibc ([0-9]{1,4}(?:\.[0-9]{1,4}){1,3})$`)
	glibcLine   = regexp.MustCompile(`(?i)\b(?:glibc|gnu libc)\b`)
	muslLine    = regexp.MustCompile(`^musl libc\b`)
	lastVersion = regexp.MustCompile(`\b([0-9]{1,4}(?:\.[0-9]{1,4}){1,3})\.?$`)
	muslVersion = regexp.MustCompile(`^Version ([0-9]{1,4}(?:\.[0-9]{1,4}){1,3})$`)
)

// libc says which C library there is, by the surest sign first.
func (f facts) libc() (name, version string) {
	if m := getconfLine.FindStringSubmatch(f.said["getconf"]); m != nil {
		return "glibc", m[1]
	}
	switch ldd := f.said["ldd"]; {
	case muslLine.MatchString(ldd):
		return "musl", group(muslVersion, f.said["ldd-next"])
	case glibcLine.MatchString(ldd):
		return "glibc", group(lastVersion, ldd)
	}
	switch {
	case f.said["musl"] == "found":
		return "musl", group(muslVersion, f.said["loader-next"])
	case f.said["glibc"] == "found" && glibcLine.MatchString(f.said["glibc-loader"]):
		return "glibc", group(lastVersion, f.said["glibc-loader"])
	}
	return "", ""
}

func group(of *regexp.Regexp, text string) string {
	if m := of.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}
