#!/bin/sh
# SPDX-License-Identifier: MIT
# Low dirty limits for all disks, a popular recommendation, make a slow disk stall the programs that write to a fast one.
# On a machine with 1 GiB of memory or more, nobody stalls with the kernel's own limits.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"

[ $# = 0 ] || cannot "unknown option $1"
begin low-limits-beside-a-slow-disk
available_mib=$(($(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo) / 1024))
[ $available_mib -ge 800 ] || cannot "800 MiB of memory must be available, and here are $available_mib"
disk slow 130 1
queue 820
disk fast 256 20
say "slow disk: 1 MiB/s, a queue of 820 requests of 20 KiB; fast disk: 20 MiB/s; $available_mib MiB of memory are available"
say "40 MiB are copied to the slow disk; beside it a program writes 64 KiB to the fast disk each 50 ms"
dirty ratio 10 20
beside 50 40 append "$work/fast/log" 65536 50
default_ms=$write_ms
say "limits of 10 and 20 per cent, the defaults: the longest of $count writes took $(seconds "$default_ms")"
dirty bytes 2097152 4194304
beside 50 40 append "$work/fast/log" 65536 50
say "limits of 2 and 4 MiB, a popular recommendation: the longest of $count writes took $(seconds "$write_ms")"
say "expected: the first less than 0.5 s; the second more if the kernel is affected, and less if not"
[ "$default_ms" -le $stalled_ms ] && [ "$write_ms" -gt $stalled_ms ] && verdict 0
verdict 1
