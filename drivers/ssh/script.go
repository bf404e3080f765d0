package ssh

import (
	"fmt"
	"strings"

	"berth/drivers/shell"
)

// script is what a target is asked, as POSIX sh that needs few processes: what
// the shell can do itself, it does. It answers in lines "MARK key=value", so
// that no noise of the account's start-up files is taken for an answer, and it
// ends early where a later answer would be worth nothing.
type script struct {
	mark      string
	workspace string
	tools     []string
	full      bool // everything that a probe asks; else what Acquire needs
}

// String is the text of the script.
func (s script) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "M=%s\n", shell.Quote(s.mark))
	b.WriteString(scriptBegin)
	if s.full {
		b.WriteString(scriptPlatform)
	} else {
		b.WriteString(scriptHost)
	}
	b.WriteString(scriptBoot)
	fmt.Fprintf(&b, "d=%s\n", quoteHome(s.workspace))
	b.WriteString(scriptWorkspace)
	if s.full {
		b.WriteString(scriptWritable)
		b.WriteString(scriptTool)
		for _, tool := range s.tools {
			fmt.Fprintf(&b, "tool %s\n", shell.Quote(tool))
		}
		b.WriteString("say tools done\n")
	}
	b.WriteString("say end\n")
	return b.String()
}

const scriptBegin = `LC_ALL=C
export LC_ALL
say() { printf '%s %s=%s\n' "$M" "$1" "$2"; }
say begin
`

// scriptHost needs no process of its own on Linux.
const scriptHost = `if [ -r /proc/sys/kernel/hostname ]; then
  read -r h </proc/sys/kernel/hostname
else
  h=$(uname -n)
fi
say host "$h"
`

// scriptPlatform stops where Berth could run nothing.
const scriptPlatform = `say user "${USER:-$LOGNAME}"
say home "$HOME"
say path "$PATH"
say login "$SHELL"
say time "$(date +%s)"
k=$(uname -snm)
say kernel "$k"
case $k in
Linux*)
  v=$(getconf GNU_LIBC_VERSION 2>/dev/null)
  case $v in
  glibc*) say libc "$v" ;;
  *)
    v=$(ldd --version 2>&1 | head -n 1)
    case $v in
    *GLIBC*|*glibc*|*"GNU libc"*) say libc "glibc ${v##* }" ;;
    *)
      w=
      for f in /lib/ld-musl-*.so.1 /usr/lib/ld-musl-*.so.1; do
        [ -e "$f" ] || continue
        w=$("$f" 2>&1 | while read -r a b c; do case $a in Version) echo "$b" ;; esac; done)
        say libc "musl $w"
        w=found
        break
      done
      case $w$v in
      found*) ;;
      *musl*) say libc "musl" ;;
      *) for f in /lib*/ld-linux*.so.* /lib/*/ld-linux*.so.*; do [ -e "$f" ] && say libc glibc && break; done ;;
      esac
      ;;
    esac
    ;;
  esac
  if [ -r /etc/os-release ]; then
    while IFS= read -r l; do
      case $l in PRETTY_NAME=*) say distro "${l#PRETTY_NAME=}" ;; esac
    done </etc/os-release
  fi
  ;;
Darwin*) say libc none; say distro "macOS $(sw_vers -productVersion 2>/dev/null)" ;;
*) say stop platform; exit 0 ;;
esac
case $k in
*" x86_64"|*" amd64"|*" aarch64"|*" arm64") ;;
*) say stop platform; exit 0 ;;
esac
`

const scriptBoot = `b=
if [ -r /proc/sys/kernel/random/boot_id ]; then
  read -r b </proc/sys/kernel/random/boot_id
else
  b=$(sysctl -n kern.bootsessionuuid 2>/dev/null)
fi
say boot "$b"
`

const scriptWorkspace = `e=
[ -d "$d" ] || e=$(mkdir -p -- "$d" 2>&1)
if ! cd -- "$d" 2>/dev/null; then
  say nodir "$e"
  exit 0
fi
say dir "$PWD"
`

// scriptWritable makes a file that nothing else made, and removes it. true is no
// special builtin, so that a redirection that fails does not end the shell.
const scriptWritable = `t=.berth-probe-${M##* }
set -C
if true 2>/dev/null >"$t"; then
  rm -f -- "$t"
  say writable yes
else
  say writable no
  exit 0
fi
x=$(df -Pk . 2>/dev/null)
x=${x##*
}
set -f
set -- $x
set +f
say free "$4"
`

// scriptTool searches the way the shell does, but tells what cannot be run from
// what is not there.
const scriptTool = `tool() {
  r=missing
  case $1 in
  /*)
    if [ -f "$1" ] && [ -x "$1" ]; then r=ok; elif [ -e "$1" ]; then r=noexec; fi
    ;;
  *)
    o=$IFS; IFS=:; set -f
    for p in $PATH; do
      if [ -f "$p/$1" ] && [ -x "$p/$1" ]; then r=ok; break; fi
      [ -f "$p/$1" ] && r=noexec
    done
    IFS=$o; set +f
    ;;
  esac
  say tool "$r $1"
}
`

// quoteHome quotes a path; a leading "~" is the home of the user on the target.
func quoteHome(path string) string {
	if path == "~" {
		return `"$HOME"`
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return `"$HOME"/` + shell.Quote(rest)
	}
	return shell.Quote(path)
}
