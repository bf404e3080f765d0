# What a session and the supervisor share. $d is the run folder, $marker the run.

# tick sets $now to hundredths of a second on a clock that only goes forward.
tick() {
	if read -r now _ </proc/uptime; then
		now=${now%.*}${now#*.}
	else
		now=$(date +%s)00
	fi
}

# born sets $born to the start time of process $1, $pgrp to its group and $state
# to its state; all are empty when there is no such process.
born() {
	born= pgrp= state=
	if [ -r /proc/self/stat ]; then
		read -r born <"/proc/$1/stat" || return 0
		born=${born##*') '}
		set -- $born
		state=$1 pgrp=$3 born=${20}
	else
		born=$(ps -o lstart= -p "$1")
		pgrp=$(ps -o pgid= -p "$1" | tr -d ' ')
		state=$(ps -o stat= -p "$1")
	fi
}

# same reports whether process $1 still is the one that was born at $2.
same() {
	born "$1"
	[ -n "$born" ] && [ "$born" = "$2" ]
}

# nap waits a tenth of a second and counts it in $naps.
nap() {
	naps=$((naps + 1))
	sleep 0.1 || { sleep 1; naps=$((naps + 9)); }
}

# hunt sets $found to the live processes of the run: those with the mark in their
# environment, and those of the group or the session of the command ($group).
hunt() {
	found= traces="BERTH_RUN_ID=$marker"
	[ -z "$group" ] || traces="$traces|\\) [^ZX] -?[0-9]+ (-?[0-9]+ )?$group -?[0-9]+ "
	for f in $(grep -lE "$traces" /proc/[0-9]*/environ /proc/[0-9]*/stat); do
		f=${f#/proc/}
		f=${f%%/*}
		case " $found " in
		*" $f "*) ;;
		*) found="$found $f" ;;
		esac
	done
}

# group_gets sends signal $1 to the group of the command, when it is known.
group_gets() {
	[ -n "$group" ] && kill "-$1" "-$group"
}

# end_all ends every process of the run: TERM first, KILL for what is there two
# seconds later. $left counts those that were in another group. It fails when
# something is still there after ten seconds. Where there is no /proc it sees the
# group only.
end_all() {
	told= naps=0
	while :; do
		hunt
		if [ -z "$found" ]; then
			[ ! -r /proc/self/stat ] && group_gets 0 || return 0
		fi
		[ "$naps" -lt 100 ] || return 1
		if [ "$naps" -ge 20 ]; then
			group_gets KILL
			[ -z "$found" ] || kill -KILL $found
		elif [ -z "$told" ]; then
			group_gets TERM
		fi
		for p in $found; do
			case " $told " in
			*" $p "*) continue ;;
			esac
			born "$p"
			[ "$pgrp" = "$group" ] || [ -z "$pgrp" ] || {
				left=$((left + 1))
				kill -TERM "$p"
			}
		done
		told="$told $found ."
		nap
	done
}
