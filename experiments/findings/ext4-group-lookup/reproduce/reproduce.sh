#!/bin/sh
# SPDX-License-Identifier: MIT
# ext4 places the blocks of one file of 128 KiB gigabytes apart on an empty disk: reproduce.sh [--group-by-group]
# With --group-by-group it is mounted with mb_optimize_scan=0: ext4 searches for free blocks group by group.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"

case ${1-} in
'') ;;
--group-by-group) mounted=$mounted,mb_optimize_scan=0 ;;
*) cannot "unknown option $1" ;;
esac
command -v filefrag >/dev/null || cannot "there is no filefrag"
begin ext4-group-lookup
# The seed decides where directories are placed.
extended=$extended,hash_seed=00000001-1111-4111-8111-111111111111
disk large 16384 0
mkdir "$work/large/directory"
file=$work/large/directory/file
chunk() { dd if=/dev/zero bs=32k count="$1" conv="$2" 2>/dev/null; }
chunk 1 notrunc >"$file"
sync
exec 3>>"$file"
chunk 2 fsync >&3
chunk 1 notrunc >&3
exec 3>&-
sync
# The lines of extents have the first and last block of 4 KiB on the disk, such as 34816..34823.
span_mib=$(filefrag -b4096 -e "$file" | tr -d ' ' | awk -F '[.:]+' '
	/^[0-9]+:/ {
		if (least == "" || $4 < least) least = $4
		if ($5 + 1 > most) most = $5 + 1
	}
	END { printf "%d", (most - least) / 256 }')
say "a file of 128 KiB, written in four parts, on an empty disk of 16 GiB, mounted with $mounted"
filefrag -b4096 -e "$file" | sed 1,2d | sed '$d'
say "from its first block to its last: $span_mib MiB"
say "expected: more than 1024 MiB if the kernel is affected (6.1, or --group-by-group), less if not (6.12, 7.2)"
[ "$span_mib" -gt 1024 ] && verdict 0
verdict 1
