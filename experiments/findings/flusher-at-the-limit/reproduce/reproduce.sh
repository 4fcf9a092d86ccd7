#!/bin/sh
# SPDX-License-Identifier: MIT
# A copy to a slow disk stalls a program that writes only to a fast one: reproduce.sh [--short-queue | --wbt]
# With --short-queue the slow disk's queue cannot hold the dirty limit, and nobody stalls. With --wbt neither: writeback
# throttling (WBT, block/blk-wbt.c) stays on, as it is by default, and lets few requests into the queue.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"

requests=820 # of 20 KiB: 16 MiB, more than the limit
case ${1-} in
'') ;;
--short-queue) requests=4 ;;
--wbt) wbt=on ;;
*) cannot "unknown option $1" ;;
esac
begin flusher-at-the-limit
disk slow 130 1
queue $requests
disk fast 256 20
dirty bytes 6291456 12582912
say "slow disk: 1 MiB/s, a queue of $requests requests of 20 KiB; fast disk: 20 MiB/s; WBT ${wbt:-off}"
say "dirty limits: 6 MiB (background) and 12 MiB"
beside 0 40 append "$work/fast/log" 65536 50
say "40 MiB were copied to the slow disk in $copied_s s"
say "beside it, $count writes of 64 KiB to the fast disk, one each 50 ms: the longest took $(seconds "$write_ms")"
say "expected: more than 0.5 s if the kernel is affected, less if not, or with --short-queue or --wbt"
[ "$write_ms" -gt $stalled_ms ] && verdict 0
verdict 1
