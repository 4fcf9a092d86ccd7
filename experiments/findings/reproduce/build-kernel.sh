#!/bin/sh
# SPDX-License-Identifier: MIT
# Build a small x86-64 kernel of a source tree, for in-qemu.sh: build-kernel.sh TREE DIRECTORY [NAME]
# The kernel is then DIRECTORY/arch/x86/boot/bzImage, and its release ends in -NAME. TREE is clean, and stays as it is: all
# objects are in DIRECTORY. So build, patch TREE and build again: only what the patch changes is compiled.
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)

cannot() {
	echo "cannot build: $*" >&2
	exit 2
}

[ $# -ge 2 ] || cannot "usage: build-kernel.sh TREE DIRECTORY [NAME]"
[ -f "$1/Kconfig" ] || cannot "$1 is no source tree of Linux"
[ ! -e "$1/.config" ] || cannot "$1 was built in: run 'make mrproper' there"
tree=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)

run() { make -s -C "$tree" O="$out" ARCH=x86_64 "$@"; }
run KCONFIG_ALLCONFIG="$here/in-qemu.config" allnoconfig
"$tree/scripts/config" --file "$out/.config" --set-str LOCALVERSION "${3:+-$3}"
run olddefconfig
grep '^CONFIG_' "$here/in-qemu.config" | while read -r option; do
	grep -qx "$option" "$out/.config" || cannot "this tree does not take $option"
done
run -j "$(nproc)" bzImage
echo "$out/arch/x86/boot/bzImage"
