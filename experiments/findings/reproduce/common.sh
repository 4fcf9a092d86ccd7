# SPDX-License-Identifier: MIT
# What the reproducers share. reproduce.sh reads it, as root, in dash or busybox ash.
# Exit codes: 0 shown, 1 not shown, 2 cannot run.
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # variables are for reproduce.sh, or from it

PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C
extended='lazy_itable_init=1,lazy_journal_init=1,nodiscard' # options of mkfs.ext4
made=''                                                    # further options of mkfs.ext4
mounted='noinit_itable'                                    # options of mount
block_kib=64                                               # how much a copy writes at a time
nullb=/sys/kernel/config/nullb
vm=/proc/sys/vm
stalled_ms=500 # a writer whose longest call takes more is stalled
noise_ms=300   # nothing can be told on a machine that wakes a program this much too late
work='' wbt='' disks='' running='' limits='' loaded='' configfs=''

say() { printf '%s\n' "$*"; }
cannot() {
	say "cannot run: $*" >&2
	exit 2
}
seconds() { printf '%d.%02d s' $(($1 / 1000)) $(($1 % 1000 / 10)); }

# begin TITLE: check what is needed, and prepare to clean up.
begin() {
	[ "$(id -u)" = 0 ] || cannot "root is needed; in-qemu.sh needs none"
	for tool in mkfs.ext4 dd nproc mktemp; do
		command -v $tool >/dev/null || cannot "there is no $tool"
	done
	trap cleanup EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	work=$(cd "$(mktemp -d)" && pwd -P)
	writer=$here/writer
	if [ ! -x "$writer" ]; then
		writer=$work/writer
		${CC:-cc} -O2 -Wall -Wextra -o "$writer" "$here/writer.c" ||
			cannot "no C compiler works, and no compiled writer is beside this script"
	fi
	if [ ! -d /sys/kernel/config/nullb ] && ! grep -q ' /sys/kernel/config configfs ' /proc/mounts; then
		modprobe configfs 2>/dev/null || :
		mount -t configfs none /sys/kernel/config 2>/dev/null || cannot "the kernel has no configfs, or its module is not here"
		configfs=1
	fi
	if [ ! -d $nullb ]; then
		modprobe null_blk nr_devices=0 2>/dev/null || cannot "the kernel has no null_blk, or its module is not here"
		loaded=1
		[ -d $nullb ] || cannot "null_blk has no configfs"
	fi
	say "$1: Linux $(uname -r), processors: $(nproc)"
}

# disk NAME MIB MBPS: make a null_blk disk in memory, with ext4, below $work/NAME. MBPS 0: no limit. Sets $device.
disk() {
	node=$nullb/repro-$1
	mkdir "$node" || cannot "$node is there: another run, or one that was killed; remove it with rmdir"
	disks="$1 $disks"
	put 1 "$node/memory_backed"
	put "$2" "$node/size"
	put "$3" "$node/mbps"
	put 1 "$node/submit_queues"
	# A disk with a rate never serves a request of more than 20 ms of it.
	most_kb=$(($3 ? 20 * $3 : 128))
	[ $most_kb -le 128 ] || most_kb=128
	put $((2 * most_kb)) "$node/max_sectors"
	put 1 "$node/power"
	device=repro-$1
	[ -e "/sys/block/$device" ] || device=nullb$(cat "$node/index")
	put $most_kb "/sys/block/$device/queue/max_sectors_kb"
	put mq-deadline "/sys/block/$device/queue/scheduler"
	if [ ! "$wbt" ] && [ -e "/sys/block/$device/queue/wbt_lat_usec" ]; then
		put 0 "/sys/block/$device/queue/wbt_lat_usec"
	fi
	# The disk is empty, so what is left out is zero; a thread that writes it later would disturb.
	# shellcheck disable=SC2086 # further options are several words, or none
	mkfs.ext4 -q -F -E "$extended" $made "/dev/$device" || cannot "mkfs.ext4 failed"
	mkdir "$work/$1"
	mount -t ext4 -o "$mounted" "/dev/$device" "$work/$1" || cannot "ext4 cannot be mounted"
}

# queue REQUESTS: set how many requests the queue of $device holds. The first number is for kernels where mq-deadline
# allows writes as many as there were before the last change (seen on 6.1 and 6.12).
queue() {
	put $(($1 + 1)) "/sys/block/$device/queue/nr_requests"
	put "$1" "/sys/block/$device/queue/nr_requests"
}

put() { echo "$1" >"$2" || cannot "$2 does not take $1"; }

# dirty bytes|ratio BACKGROUND LIMIT: set the dirty limits of the machine, which cleanup sets back.
dirty() {
	if [ ! "$limits" ]; then
		for name in dirty_background_bytes dirty_background_ratio dirty_bytes dirty_ratio; do
			limits="$limits $name=$(cat $vm/$name)"
		done
	fi
	put "$2" "$vm/dirty_background_$1"
	put "$3" "$vm/dirty_$1"
}

# beside SECONDS COPY_MIB WORDS...: run the writer with WORDS, start a copy to the slow disk 2 s later, and end the writer
# when the copy has ended and SECONDS are over. Sets $open_ms, $write_ms, $late_ms, $count and $copied_s.
beside() {
	least_s=$1 copy_mib=$2
	shift 2
	sync
	"$writer" "$@" >"$work/said" &
	writing=$!
	sleep 2
	began=$(uptime_s)
	dd if=/dev/zero of="$work/slow/copy" bs=${block_kib}k count=$((1024 * copy_mib / block_kib)) 2>/dev/null &
	copying=$!
	sleep "$least_s" &
	running="$writing $copying $!"
	wait $copying || cannot "the copy failed"
	copied_s=$(($(uptime_s) - began))
	wait $!
	kill -TERM $writing 2>/dev/null || :
	wait $writing || cannot "the writer failed"
	running=''
	read -r open_ms write_ms late_ms count <"$work/said"
	rm -f "$work/slow/copy" # what is not yet written need not be
	[ "$late_ms" -lt $noise_ms ] ||
		cannot "this machine is too busy to tell: a sleep took $(seconds "$late_ms") longer than asked"
}

uptime_s() { cut -d. -f1 /proc/uptime; }

verdict() { # verdict 0|1
	if [ "$1" = 0 ]; then say "result: shown"; else say "result: not shown"; fi
	exit "$1"
}

# shellcheck disable=SC2317 # called by trap
cleanup() {
	code=$?
	set +e
	trap '' INT TERM HUP
	for pid in $running; do kill -KILL "$pid" 2>/dev/null; done
	wait
	for limit in $limits; do # the one of each pair that is 0 is not in use
		[ "${limit#*=}" = 0 ] || echo "${limit#*=}" >"$vm/${limit%%=*}"
	done
	if command -v unlimit >/dev/null; then unlimit; fi
	for name in $disks; do
		if grep -q " $work/$name ext4 " /proc/mounts; then
			rm -rf "${work:?}/$name"/*
			umount "$work/$name"
		fi
		[ ! -d "$work/$name" ] || rmdir "$work/$name"
		echo 0 >"$nullb/repro-$name/power" 2>/dev/null
		rmdir "$nullb/repro-$name"
	done
	[ ! "$loaded" ] || modprobe -r null_blk
	[ ! "$configfs" ] || umount /sys/kernel/config
	[ ! "$work" ] || { rm -f "$work/writer" "$work/said" && rmdir "$work"; }
	exit "$code"
}
