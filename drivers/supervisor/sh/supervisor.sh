# The supervisor holds one command. It outlives the session that started it.
# Standard input is the text of the job; sh, grace, limit and spool are set above.
exec 6<&0 </dev/null >/dev/null 2>&1
d=${0%/sup}
marker=${d##*/}

# Whoever waits for the end reads from this pipe: it ends with the supervisor.
exec 9<>"$d/live"
born $$
mine=$born
printf '%s %s\n' $$ "$mine" >"$d/keeper"

asked=
trap 'asked=1' USR1 TERM HUP

# The outputs go through pipes, because a command that opens /dev/stderr again
# would truncate a file.
cat <"$d/o" >>"$d/out" 6<&- 9>&- &
out=$!
cat <"$d/e" >>"$d/err" 6<&- 9>&- &
err=$!

# job runs the command in a session of its own and notes its exit status, which
# wait alone could not tell from an interruption. Work in the background ignores
# INT and QUIT; only env can undo that. An old env cannot, then there is no
# identity yet, and the command starts without.
job() {
	exec 4>"$d/e" >"$d/o"
	text='eval "$(cat)"'
	if command -v setsid >/dev/null; then
		env --default-signal setsid "$sh" -c "$text" "$d"
		rc=$?
		[ -s "$d/id" ] || {
			setsid "$sh" -c "$text" "$d"
			rc=$?
		}
	else
		set -m
		"$sh" -c "$text" "$d" <&0 &
		wait $!
		rc=$?
	fi
	[ -s "$d/id" ] || printf 'none\n' 1<>"$d/live"
	printf '%s \n' "$rc" 1<>"$d/rc"
}
job <&6 6<&- 9>&- &
job=$!
exec 6<&-
cd "$d" || exit 1

# why notes the reason of an end that nobody asked for through a session.
why() {
	printf '%s \n' "$1" 1<>why
	kill -USR1 $$
}

# watch looks every second whether the command may go on. It also ends it when
# the supervisor itself was killed.
watch() {
	trap 'kill "$pause"; exit' TERM
	tick
	began=$now seen=$now
	read -r beat _ <beat
	while :; do
		sleep 1 &
		pause=$!
		wait "$pause"
		tick
		read -r b _ <beat
		[ "$b" = "$beat" ] || beat=$b seen=$now
		if ! same $$ "$mine"; then
			read -r group _ <id
			end_all
			exit
		fi
		[ $((now - seen)) -lt "$grace" ] || why grace
		[ "$limit" -eq 0 ] || [ $((now - began)) -lt "$limit" ] || why timeout
		set -- $(wc -c out err)
		[ $(($1 + $3)) -le "$spool" ] || why output_limit
	done
}
watch 9>&- &
watch=$!

# A hunt can be believed when it would find the mark that this shell itself has.
sure=0
[ -z "$(grep -lE "BERTH_KEEPER=$marker" "/proc/$$/environ")" ] || sure=1

rc=
while [ -z "$rc" ] && [ -z "$asked" ]; do
	wait "$job"
	read -r rc _ <rc
	[ -n "$rc" ] || kill -0 "$job" || rc=137
done
how=exit
[ -n "$rc" ] || {
	read -r how _ <why
	how=${how:-stopped}
}

left=0 group= naps=0
until read -r group _ <id && [ -n "$group" ]; do
	kill -0 "$job" || [ -s id ] || break
	nap
done

if [ -z "$group" ] || end_all; then
	while [ -z "$rc" ] && kill -0 "$job"; do
		wait "$job"
		read -r rc _ <rc
	done
else
	sure=0
	kill "$job"
fi

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
	wait "$p"
done

# What was about to leave the group during the first hunt is caught by the second.
[ -z "$group" ] || end_all || sure=0
kill "$watch"
wait "$watch"
set -- $(wc -c out err)
printf '%s %s %s %s %s %s .\n' "${rc:-137}" "$how" "$sure" "$left" "$1" "$3" 1<>exit
