# Lists a folder of the workspace or reads a file. $1 is the workspace, $2 the path
# within it, $3 marks entries, $4 is how many there are at most, $5 how many bytes.
# The first line of the answer says what it is.
export LC_ALL=C
say() {
	printf '%s\n' "$1"
	exit 0
}
cd -P -- "$1" 2>/dev/null || say gone
root=$PWD
# The x keeps the line ends that a name may end with.
real=$(readlink -f -- "$root/$2" 2>/dev/null && printf x) || say none
real=${real%?x}
case $real in
"$root" | "$root"/*) ;;
*) say escapes ;;
esac
if [ -d "$real" ]; then
	cd -P -- "$real" 2>/dev/null && [ -r . ] || say forbidden
	case $PWD in
	"$root" | "$root"/*) ;;
	*) say escapes ;;
	esac
	mark=$3 most=$4 count=0
	flush() { [ $# -eq 0 ] || stat -c "$mark%f %s %Y %n" -- "$@" 2>/dev/null; }
	echo folder
	set --
	for f in * .[!.]* ..?*; do
		[ -e "$f" ] || [ -L "$f" ] || continue
		count=$((count + 1))
		[ "$count" -le "$most" ] || continue
		set -- "$@" "./$f"
		[ $# -lt 100 ] || {
			flush "$@"
			set --
		}
	done
	flush "$@"
	printf '%s%s\n' "$mark" "total $count"
elif [ -f "$real" ]; then
	[ -r "$real" ] || say forbidden
	printf 'file %s\n' "$(stat -c %s -- "$real")"
	exec head -c "$5" -- "$real"
elif [ -e "$real" ]; then
	say other
fi
[ -e "$real" ] || say none
