# One session with a run: it starts it or takes it up, gives out what it prints,
# and obeys the lines that come in: r(enew), s(top), f(etch), d(one).
exec 4>&2 2>/dev/null
tmp=${TMPDIR:-/tmp}
read -r boot </proc/sys/kernel/random/boot_id || boot=$(sysctl -n kern.bootsessionuuid)
read -r host </proc/sys/kernel/hostname || host=$(uname -n)

# say answers between the marks, so that nothing else is taken for it.
say() {
	printf '\n%s{\n%s\n%s}\n' "$nonce" "$1" "$nonce"
	printf '\n%s}\n' "$nonce" >&4
}

give_up() {
	say "$1"
	exit 0
}

# seek sets $d to the folder of the run. It fails when there is none.
seek() {
	for d in "${HOME:-/nowhere}/.berth/runs/$marker" "$tmp"/berth-*/runs/"$marker"; do
		[ -d "$d" ] && [ -O "$d" ] && return
	done
	return 1
}

# claim makes the folder of the run in $1; $won says whether this session is the
# one that may start it. It fails where the folder is unusable.
claim() {
	won= d=$1/$marker
	for try in 1 2 3; do # a run that ends may remove the empty parents meanwhile
		mkdir -m 700 "${1%/*}" "$1" "$d"
		[ ! -d "$d" ] || break
	done
	[ -O "${1%/*}" ] && [ -O "$1" ] && [ ! -L "$1" ] && [ -O "$d" ] && [ ! -L "$d" ] || return 1
	set -C
	printf '%s\n' "$boot" "$PWD" >"$d/claim" && won=1
	set +C
	if [ -z "$won" ]; then
		[ -e "$d/claim" ]
		return
	fi
	furnish && return
	discard
	return 1
}

# furnish makes the files of the run. Those that change later keep room for it
# now, so that a full disk stops neither a beat nor the exit record.
furnish() {
	printf '%99s\n' '' >"$d/why" && printf '%99s\n' '' >"$d/exit" && printf '%s\n' "$beat" >"$d/beat" &&
		printf '' >"$d/out" && printf '' >"$d/err" && printf '%s\n' "$head" "$lib" "$supervisor" >"$d/sup" ||
		return
	[ -z "$has_input" ] || input >"$d/in"
}

# discard removes the run's folder, and its parents when they are empty.
discard() {
	rm -rf "$d"
	rmdir "${d%/*}" "${d%/runs/*}"
}

# give makes the pipes of the run and gives out its job, which tells the
# supervisor, started meanwhile, that they are there.
give() {
	[ -p "$d/e" ] || mkfifo "$d/live" "$d/o" "$d/e" || return
	printf 'go\n%s' "$job"
}

# lead starts the supervisor in a session of its own. A setsid that can fork by
# itself is quickest. Others need work in the background, which ignores INT and
# QUIT; a new enough env can undo that.
lead() {
	give | BERTH_KEEPER=$marker setsid --fork "$sh" "$d/sup" >/dev/null 4>&- || {
		leader=
		! command -v setsid >/dev/null || leader=setsid
		! env --default-signal true || leader="env --default-signal $leader"
		[ -p "$d/e" ] || mkfifo "$d/live" "$d/o" "$d/e"
		give | BERTH_KEEPER=$marker $leader "$sh" "$d/sup" >/dev/null 4>&- &
	}
	[ -p "$d/e" ]
}

# launch starts the supervisor, which starts the command, in the claimed folder.
launch() {
	lead && exec 7<>"$d/live" && meet && exec 7>&- && [ "$pid" != none ] || {
		discard
		give_up 'fail start'
	}
	cwd=$PWD here=1
}

# meet reads who the command is. What was said in the pipe before it was open
# here is lost when the supervisor has ended too, as it soon does on a busy host
# with a quick command: the files say it then.
meet() {
	if [ -s "$d/id" ]; then
		read -r pid born <"$d/id"
	elif ended; then
		pid=none
	else
		read -r pid born <&7
	fi
}

# take_up reads who the run in $d is. It fails when its start was never finished.
take_up() {
	naps=0
	until read -r pid born <"$d/id" && [ -n "$born" ]; do
		[ "$naps" -lt 50 ] || return 1
		nap
	done
	here=0
	{
		read -r was
		cwd=$(cat)
	} <"$d/claim"
	[ "$was" != "$boot" ] || here=1
	printf '%s\n' "$beat" 1<>"$d/beat"
	boot=$was
}

ended() {
	read -r code how sure left osize esize dot <"$d/exit"
	[ "$dot" = . ]
}

# lost is the record of a run whose supervisor is gone without one.
lost() {
	code=137 how=rebooted sure=1 left=0
	if [ "$here" = 1 ]; then
		how=killed sure=0 group=$pid
		end_all
	fi
	cd "$d"
	set -- $(wc -c out err)
	osize=$1 esize=$3
}

# follow gives out both streams as they grow and, when the run has ended, its
# record behind the end mark.
follow() {
	kids=
	trap 'kill -KILL $kids; exit' TERM
	exec 8<>"$d/live" 7<"$d/live" 8>&-
	if [ "$here" = 1 ] && ! ended; then
		tail -c "+$((o + 1))" -f "$d/out" &
		kids=$!
		tail -c "+$((e + 1))" -f "$d/err" >&4 &
		kids="$kids $!"
		while read -r _ <&7; do :; done # until the supervisor is gone
		kill -KILL $kids # one that has just been forked would miss a TERM
		wait $kids
	fi
	ended || lost
	printf '\000\000%s!\n%s\n' "$nonce" "$code $how $sure $left $osize $esize"
	printf '\000\000%s!\n' "$nonce" >&4
}

# halt asks the supervisor to end the command, and does it itself when there is
# nobody to ask.
halt() {
	naps=0
	until read -r keeper kborn <"$d/keeper" && [ -n "$kborn" ]; do
		[ "$naps" -lt 20 ] || break
		nap
	done
	if same "$keeper" "$kborn"; then
		kill -USR1 "$keeper"
	elif [ "$here" = 1 ]; then
		group=$pid
		end_all
	fi
}

# obey does what the server says until it is done or gone.
obey() {
	while read -r word a b; do
		case $word in
		r) printf '%s\n' "$a" 1<>"$d/beat" ;;
		s) halt ;;
		f)
			tail -c "+$((a + 1))" "$d/out"
			tail -c "+$((b + 1))" "$d/err" >&4
			;;
		d)
			wait "$follow"
			tidy </dev/null >/dev/null 4>&- &
			discard
			exit 0
			;;
		esac
	done
	kill "$follow"
	wait "$follow"
	exit 1 # nobody said that it is done
}

# tidy removes what runs left here whose server never came back.
tidy() {
	find "${d%/*}" -mindepth 2 -maxdepth 2 -name beat -mtime +0 \
		-exec "$sh" -c 'for b; do rm -rf "${b%/beat}"; done' "$sh" '{}' +
}

# main is a function so that a script that was cut off on its way does nothing.
main() {
	if ! seek; then
		[ "$start" = 1 ] || give_up none
		cd -P -- "$dir" || give_up 'fail folder'
		claim "${HOME:-/nowhere}/.berth/runs" || claim "$tmp/berth-$(id -u)/runs" || give_up 'fail disk'
		[ -z "$won" ] || launch
	fi
	if [ -z "$won" ] && ! take_up; then
		mv "$d" "$d.dead" && d=$d.dead discard
		give_up stillborn
	fi
	say "ok
$pid
$born
$boot
$host
$d
$cwd"
	follow </dev/null &
	follow=$!
	obey
}

# ahead waits for the script that says what to do and calls main: a line of it, or
# one with the length of several. What is said first tells that this script was
# read, so that the next one may come.
ahead() {
	printf '\n%s<\n' "$nonce"
	if IFS= read -r rest; then
		case $rest in
		[0-9]*) eval "$(head -c "$rest")" ;;
		*) eval "$rest" ;;
		esac
	fi
}
