#!/bin/sh
# wblab facts: what decides writeback on this machine, as text: sh facts.sh > facts.txt
# It reads files of /proc and /sys and changes nothing. Only root sees where tasks sleep in the kernel.
facts() {
    group='memory.max memory.high memory.current io.max
        memory.limit_in_bytes memory.soft_limit_in_bytes memory.usage_in_bytes blkio.throttle.write_bps_device'
    for task in /proc/[0-9]*/task/[0-9]*; do # who sleeps uninterruptibly, and where
        read -r stat < "$task/stat" && stat=${stat##*) } && [ "${stat%% *}" = D ] || continue
        for file in comm wchan io cgroup stack; do echo "==> $task/$file <=="; cat "$task/$file"; echo; done
        while IFS=: read -r _ kind at; do # the limits of its control groups and of those above, version 2 and 1
            case $kind in '') ;; *memory*|*blkio*) kind=/$kind ;; *) continue ;; esac; at=${at%/}
            while for file in $group; do file=/sys/fs/cgroup$kind$at/$file; [ -f "$file" ] && echo "==> $file <==" && cat "$file"; done
                [ "$at" ]; do at=${at%/*}; done
        done < "$task/cgroup"
    done
    for disk in /sys/block/*/device; do # the drivers of each disk, its own first
        place=$(readlink -f "$disk") && [ -d "$place" ] && echo "==> ${disk%/*}/drivers <==" || continue
        while [ "${place%/*}" ]; do echo "${place##*/} $(readlink "$place/driver")"; place=${place%/*}; done
    done; for file in /sys/block/*/slaves; do [ -d "$file" ] && echo "==> $file <==" && ls "$file"; done
    queue='scheduler nr_requests max_sectors_kb max_hw_sectors_kb max_segments rotational write_cache wbt_lat_usec read_ahead_kb'
    disk='size dev ro removable stat inflight device/model device/vendor device/queue_depth dm/name'
    for file in /proc/version /proc/cmdline /proc/uptime /proc/loadavg /proc/meminfo /proc/vmstat /proc/pressure/* \
        /proc/swaps /proc/self/mountinfo /proc/diskstats /proc/sys/vm/dirty_* /proc/sys/vm/swappiness \
        $(for name in $queue; do echo "/sys/block/*/queue/$name"; done; for name in $disk; do echo "/sys/block/*/$name"; done) \
        /sys/class/bdi/*/*_ratio* /sys/class/bdi/*/*_bytes /sys/class/bdi/*/strict_limit /sys/fs/cgroup/cgroup.controllers; do
        [ -f "$file" ] && [ -r "$file" ] && echo "==> $file <==" && head -n 400 "$file"
    done
} 2>/dev/null
