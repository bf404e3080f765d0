# What becomes the command: it leads its own session, says who it is, takes its
# input and its variables, and is replaced by the command. It comes in through a
# pipe, so that no value is ever on a disk or on a command line. $0 is the folder.
if read -r born </proc/$$/stat; then
	born=${born##*') '}
	set -- $born
	born=${20}
else
	born=$(ps -o lstart= -p $$)
fi
printf '%s %s\n' $$ "$born" >"$0/id" && printf '%s %s\n' $$ "$born" 1<>"$0/live" || exit 126
if [ -e "$0/in" ]; then
	exec <"$0/in"
	rm -f "$0/in"
else
	exec </dev/null
fi
unset born BERTH_KEEPER
