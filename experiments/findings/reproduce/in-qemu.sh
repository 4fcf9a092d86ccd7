#!/bin/sh
# SPDX-License-Identifier: MIT
# Run reproduce.sh on a kernel in QEMU, as any user, without KVM: in-qemu.sh KERNEL MODULES_DIR [PROCESSORS [OPTION...]]
# KERNEL is a bzImage, MODULES_DIR has its modules in it or below, such as /lib/modules/RELEASE. Options are reproduce.sh's.
# With SCRIPT=selftest.sh it runs that instead, where a finding has one. build-kernel.sh builds a kernel for it.
# Time in the guest is that of its instructions, so a busy host delays nothing there. With CLOCK=host it is the host's:
# Linux 6.1 does not start on several processors without it. LIMIT_S, 900 if not set, is how many seconds of the host it may
# take. Exits like reproduce.sh.
set -eu
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
limit_s=${LIMIT_S:-900}
script=${SCRIPT:-reproduce.sh}
clock='-icount shift=2,sleep=off -rtc clock=vm' threads=single
[ "${CLOCK-}" != host ] || clock='' threads=multi
work='' emulator=''

cannot() {
	echo "cannot run: $*" >&2
	exit 2
}
# shellcheck disable=SC2317 # called by trap
cleanup() {
	code=$?
	trap '' INT TERM HUP
	if [ "$emulator" ]; then
		kill -TERM "$emulator" 2>/dev/null || :
		wait "$emulator" || :
	fi
	[ ! "$work" ] || rm -rf "$work"
	exit "$code"
}

[ $# -ge 2 ] || cannot "usage: in-qemu.sh KERNEL MODULES_DIR [PROCESSORS [OPTION...]]"
kernel=$1 modules=$2 processors=${3:-1}
shift $(($# > 2 ? 3 : 2))
[ -r "$kernel" ] || cannot "$kernel cannot be read"
[ -d "$modules" ] || cannot "$modules is no directory"
[ -r "$here/$script" ] || cannot "there is no $script beside this script"
for tool in qemu-system-x86_64 busybox mkfs.ext4 filefrag cpio gzip ldd timeout; do
	command -v $tool >/dev/null || cannot "there is no $tool"
done
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
work=$(mktemp -d)
root=$work/root
mkdir -p "$root/bin" "$root/dev" "$root/modules" "$root/proc" "$root/reproduce" "$root/sys" "$root/tmp"

# program PATH: take a program and the libraries it needs.
program() {
	cp -L "$1" "$root/bin/"
	for library in $(ldd "$1" 2>/dev/null | tr -s '[:space:]' '\n' | grep '^/' | sort -u); do
		mkdir -p "$root$(dirname "$library")"
		cp -L "$library" "$root$library"
	done
}

# module NAME: take a module, after those that it needs. One that is not there may be built in.
module() {
	[ ! -e "$work/seen.$1" ] || return 0
	: >"$work/seen.$1"
	file=$(find "$modules/" -name "$(echo "$1" | sed 's/[_-]/[_-]/g').ko*" | head -n 1)
	case $file in
	'') return 0 ;;
	*.xz) xz -dc "$file" >"$work/$1.ko" ;;
	*.gz) gzip -dc "$file" >"$work/$1.ko" ;;
	*.zst) zstd -qdc "$file" >"$work/$1.ko" ;;
	*) cp "$file" "$work/$1.ko" ;;
	esac || cannot "$file cannot be unpacked"
	for needed in $(tr '\0' '\n' <"$work/$1.ko" | sed -n 's/^depends=//p' | tr ',' ' '); do
		module "$needed"
	done
	number=$((number + 1))
	mv "$work/$1.ko" "$root/modules/$(printf %02d $number)-$1.ko"
}

number=10
for name in configfs null_blk mq_deadline crc32c_generic crc32c_cryptoapi ext4; do module $name; done
program "$(command -v busybox)"
program "$(command -v mkfs.ext4)"
program "$(command -v filefrag)"
cp "$here/$script" "$root/reproduce/reproduce.sh"
cp "$here/common.sh" "$root/reproduce/"
if [ -x "$here/writer" ]; then
	cp "$here/writer" "$root/reproduce/"
else
	${CC:-cc} -O2 -Wall -Wextra -static -o "$root/reproduce/writer" "$here/writer.c" ||
		cannot "no C compiler works, and no compiled writer is beside this script"
fi
cat >"$root/init" <<'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tmpfs none /tmp
stty -onlcr </dev/ttyS1
for file in /modules/*.ko; do
	[ -e "$file" ] || continue # all may be built in
	case $file in
	*-null_blk.ko) insmod "$file" nr_devices=0 ;;
	*) insmod "$file" ;;
	esac
done >/dev/ttyS1 2>&1
# shellcheck disable=SC2046 # options
sh /reproduce/reproduce.sh $(cat /reproduce/options) >/dev/ttyS1 2>&1 </dev/null
echo $? >/dev/ttyS2
sync
reboot -f # which ends QEMU, and unlike poweroff needs no ACPI
END
chmod 755 "$root/init"
echo "$*" >"$root/reproduce/options"
(cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet | gzip -1) >"$work/initramfs"

# shellcheck disable=SC2086 # the clock's are several words, or none
timeout -k 5 "$limit_s" qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot -machine q35 -cpu qemu64 \
	-accel tcg,thread=$threads $clock -m 1200 -smp "$processors" \
	-serial "file:$work/console" -serial stdio -serial "file:$work/code" -kernel "$kernel" -initrd "$work/initramfs" \
	-append "console=ttyS0 loglevel=4 panic=-1 mitigations=off no_timer_check" </dev/null &
emulator=$!
wait $emulator || cannot "QEMU failed, or took longer than $limit_s s"
emulator=''
[ -s "$work/code" ] || {
	tail -n 20 "$work/console" >&2
	cannot "the kernel did not come to an end; its last words are above"
}
exit "$(tr -dc 0-9 <"$work/code")"
