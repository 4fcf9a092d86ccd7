#!/bin/sh
# SPDX-License-Identifier: MIT
# A copy in blocks of 2 MiB stalls a program that writes to the same ext4 for most of its time, one in blocks of 64 KiB for far less:
# reproduce.sh [--encrypt]
# With --encrypt the filesystem has that feature, which encrypts nothing by itself and keeps ext4 from large folios.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"

made='-b 4096'
case ${1-} in
'') ;;
--encrypt) made="$made -O encrypt" ;;
*) cannot "unknown option $1" ;;
esac
begin copy-in-large-blocks
disk slow 300 2
queue 26
dirty bytes 7340032 14680064
say "one disk of 2 MiB/s, a queue of 26 requests of 40 KiB, mkfs.ext4 $made; dirty limits: 7 and 14 MiB; a program appends 4 KiB each 50 ms"

# copied KIB: copy 120 MiB in blocks of so many KiB. Sets $stalled, the per cent of that time for which the program stood still.
copied() {
	block_kib=$1
	beside 0 120 append "$work/slow/log" 4096 50
	stalled=$((100 - 5 * count / (copied_s + 2)))
	say "beside a copy in blocks of $1 KiB, which took $copied_s s, it was stalled for $stalled % of the time," \
		"the longest write took $(seconds "$write_ms")"
}
copied 64
small=$stalled
copied 2048
say "expected: more than half of the time beside the second, and at most two thirds of that beside the first," \
	"if the kernel is affected (6.16 and later, without --encrypt)"
[ "$stalled" -gt 50 ] && [ $((3 * small)) -le $((2 * stalled)) ] && verdict 0
verdict 1
