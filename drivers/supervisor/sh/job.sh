# What becomes the command: it leads its own session, says who it is, takes its
# input and its variables, and is replaced by the command. It comes in through a
# pipe, so that no value is ever on a disk or on a command line. $1 is the folder.
d=$1
if read -r born </proc/$$/stat; then
	born=${born##*') '}
	set -- $born
	born=${20}
else
	born=$(ps -o lstart= -p $$)
fi
printf '%s %s\n' $$ "$born" >"$d/id" && printf '%s %s\n' $$ "$born" 1<>"$d/live" || exit 126
if [ -e "$d/in" ]; then
	exec 5<"$d/in"
	rm -f "$d/in"
else
	exec 5</dev/null
fi
exec 3>"$d/o" 4>"$d/e"
unset born d BERTH_KEEPER
