#!/bin/sh
# SPDX-License-Identifier: MIT
# On a disk whose writes are limited by blk-throttle, a program that makes files is stuck in open(2) while another writes.
# Commit 29390bb5661d (Linux 6.12) ends it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"

stuck_ms=3000
throttle='' number=''
# shellcheck disable=SC2317 # called by cleanup
unlimit() {
	if [ "$throttle" ]; then
		[ ! "$number" ] || echo "$number 0" >"$throttle/blkio.throttle.write_bps_device"
		umount "$throttle"
		rmdir "$throttle"
	fi
}

[ $# = 0 ] || cannot "unknown option $1"
begin metadata-behind-a-limit
disk slow 130 0
mkdir "$work/blkio"
mount -t cgroup -o blkio none "$work/blkio" || {
	rmdir "$work/blkio"
	cannot "control groups of version 1 cannot limit blkio here: version 2 has it; in-qemu.sh can"
}
throttle=$work/blkio
[ -e "$throttle/blkio.throttle.write_bps_device" ] || cannot "the kernel has no CONFIG_BLK_DEV_THROTTLING"
dirty bytes 12582912 25165824
sync
number=$(cat "/sys/block/$device/dev")
put "$number 1048576" "$throttle/blkio.throttle.write_bps_device"
say "one disk, ext4; blkio.throttle.write_bps_device of the root group: 1 MiB/s; dirty limits: 12 and 24 MiB"
beside 0 65 create "$work/slow/file" 1 100
say "65 MiB were copied to it in $copied_s s"
say "beside it, $count files were made, one each 100 ms: the longest open took $(seconds "$open_ms")," \
	"the longest write $(seconds "$write_ms")"
say "expected: an open of more than 3 s if the kernel is affected (before 6.12), less if not"
[ "$open_ms" -gt $stuck_ms ] && verdict 0
verdict 1
