#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A task that dirties a fast disk must not wait for a slow disk that holds the dirty limit under writeback: the flusher
# of the fast disk has to clean its pages meanwhile. Two null_blk disks, 1 and 20 MB/s; takes a minute; needs root.
KSFT_FAIL=1
KSFT_SKIP=4
most_ms=500 # balance_dirty_pages() sleeps 200 ms at most before it looks again
nullb=/sys/kernel/config/nullb
vm=/proc/sys/vm
work=$(mktemp -d)

skip() { echo "ok 1 writer-on-fast-disk # SKIP $*"; exit $KSFT_SKIP; }
uptime_ms() { read -r up _ </proc/uptime; echo "$((${up%.*} * 1000 + 1${up#*.} * 10 - 1000))"; }

cleanup() {
	[ ! "$copy" ] || kill "$copy" 2>/dev/null
	wait
	for disk in slow fast; do
		umount "$work/$disk" 2>/dev/null
		rmdir "$nullb/$disk" 2>/dev/null
	done
	[ ! "$limits" ] || for limit in $limits; do echo "${limit#*=}" >"$vm/${limit%=*}"; done 2>/dev/null
	rm -rf "$work"
}
disk() { # NAME MIB MBPS: memory-backed, requests of at most 20 KiB, without WBT, with ext4
	mkdir "$nullb/$1" && cd "$nullb/$1" || skip "no disk $1"
	echo 1 >memory_backed && echo "$2" >size && echo "$3" >mbps && echo 1 >submit_queues
	echo 40 >max_sectors && echo 1 >power || skip "null_blk lacks an attribute"
	[ -e "/sys/block/$1" ] && name=$1 || name=nullb$(cat index)
	cd "/sys/block/$name/queue" && echo mq-deadline >scheduler && echo 820 >nr_requests || skip "no mq-deadline"
	echo 0 >wbt_lat_usec 2>/dev/null
	mkfs.ext4 -q -F -E lazy_itable_init=1,lazy_journal_init=1,nodiscard "/dev/$name" || skip "no mkfs.ext4"
	mkdir "$work/$1" && mount -t ext4 -o noinit_itable "/dev/$name" "$work/$1" || skip "no ext4"
}

echo "TAP version 13"
echo "1..1"
[ "$(id -u)" = 0 ] || skip "not root"
trap cleanup EXIT
trap 'exit 130' INT TERM
[ -d $nullb ] || mount -t configfs none /sys/kernel/config 2>/dev/null
[ -d $nullb ] || modprobe null_blk nr_devices=0 2>/dev/null
[ -d $nullb ] || skip "no null_blk in configfs"
disk slow 130 1
disk fast 256 20
for limit in background_bytes background_ratio bytes ratio; do limits="$limits dirty_$limit=$(cat $vm/dirty_$limit)"; done
echo 6291456 >$vm/dirty_background_bytes && echo 12582912 >$vm/dirty_bytes
longest=0
dd if=/dev/zero of="$work/slow/copy" bs=64k count=640 2>/dev/null & copy=$!
while kill -0 $copy 2>/dev/null; do
	began=$(uptime_ms)
	dd if=/dev/zero bs=64k count=1 2>/dev/null >>"$work/fast/log"
	took=$(($(uptime_ms) - began))
	[ $took -le $longest ] || longest=$took
	sleep 0.05
done
echo "# the longest of the writes of 64 KiB to the fast disk took $longest ms, expected: at most $most_ms"
[ $longest -gt $most_ms ] || { echo "ok 1 writer-on-fast-disk"; exit 0; }
echo "not ok 1 writer-on-fast-disk"
exit $KSFT_FAIL
