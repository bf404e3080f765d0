# The supervisor holds one command. It outlives the session that started it.
# Standard input is the text of the job; sh, grace, limit and spool are set above.
exec 6<&0 </dev/null >/dev/null 2>&1
d=${0%/sup}
marker=${d##*/}
read -r go <&6 && [ "$go" = go ] || exit 1 # the session makes the pipes meanwhile

# Whoever waits for the end reads from this pipe: it ends with the supervisor.
exec 9<>"$d/live"

# The outputs go through pipes, because a command that opens /dev/stderr again
# would truncate a file.
cat <"$d/o" >>"$d/out" 6<&- 9>&- &
out=$!
cat <"$d/e" >>"$d/err" 6<&- 9>&- &
err=$!

# stop ends the command for a reason. Its exit status is the count of those that
# had left the group. What cannot be ended is given up, with the supervisor.
stop() {
	printf '%s \n' "$1" 1<>"$d/why"
	left=0 naps=0
	until [ -n "$group" ] || read -r group _ <"$d/id" && [ -n "$group" ]; do
		[ "$naps" -lt 50 ] || break
		nap
	done
	end_all || {
		set -- "$1" $(cd "$d" && wc -c out err)
		printf '%s %s %s %s %s %s .\n' 137 "$1" 0 "$left" "$2" "$4" 1<>"$d/exit"
		kill -KILL "$out" "$err" $$
	}
	exit "$left"
}

# watch looks every second whether the command may go on. It also ends it when
# the supervisor itself was killed.
watch() {
	asked= group=
	trap 'asked=1' USR1
	trap 'kill -KILL "$pause"; exit 0' TERM
	born $$
	mine=$born
	read -r self _ </proc/self/stat || self=$("$sh" -c 'echo $PPID')
	born "$self"
	printf '%s %s\n' "$self" "$born" >"$d/keeper"
	tick
	began=$now seen=$now
	read -r beat _ <"$d/beat"
	while [ -z "$asked" ]; do
		sleep 1 &
		pause=$!
		wait "$pause"
		[ -z "$asked" ] || break
		[ -n "$group" ] || read -r group _ <"$d/id"
		same $$ "$mine" || stop killed
		tick
		read -r b _ <"$d/beat"
		[ "$b" = "$beat" ] || beat=$b seen=$now
		[ $((now - seen)) -lt "$grace" ] || stop grace
		[ "$limit" -eq 0 ] || [ $((now - began)) -lt "$limit" ] || stop timeout
		set -- $(cd "$d" && wc -c out err)
		[ $((${1:-0} + ${3:-0})) -le "$spool" ] || stop output_limit
	done
	kill -KILL "$pause"
	stop stopped
}
watch 6<&- 9>&- &
watch=$!

# The command runs in the foreground, so that its exit status is exact and INT
# and QUIT have their usual meaning.
if command -v setsid; then
	setsid "$sh" -s "$d" <&6 9>&-
	rc=$?
else
	set -m
	"$sh" -s "$d" <&6 9>&- &
	wait $!
	rc=$?
	set +m
fi
exec 6<&-
cd "$d" || exit 1
[ -s id ] || printf 'none\n' 1<>live

how=exit left=0
read -r why _ <why
if [ -n "$why" ]; then
	how=$why
	wait "$watch"
	left=$?
else
	kill "$watch"
fi

# A hunt can be believed when it would find the mark that this shell itself has.
sure=0
[ -z "$(grep -lE "BERTH_KEEPER=$marker" "/proc/$$/environ")" ] || sure=1
read -r group _ <id
end_all || sure=0

# The pipes end when nobody holds them any more. Who holds one for longer has
# left the group, the session and the mark behind.
naps=0
for p in "$out" "$err"; do
	while born "$p" && [ -n "$born" ] && [ "${state#Z}" = "$state" ]; do
		if [ "$naps" -ge 20 ]; then
			sure=0
			kill "$p"
			break
		fi
		nap
	done
done

# What was about to leave the group during the first hunt is caught by the second.
end_all || sure=0
wait
set -- $(wc -c out err)
printf '%s %s %s %s %s %s .\n' "$rc" "$how" "$sure" "$left" "$1" "$3" 1<>exit
