#!/bin/sh
# wblab recorder: wait until a program stalls, and keep what the kernel traced in the seconds around it.
#   sh recorder.sh --pid N | --comm NAME | --probe DIR   [--over 200ms] [--count 1] [--buffer MB] [--out DIR]
#   sh recorder.sh --clean                               remove what a killed recorder left
# --pid, --comm: a task of it sleeps uninterruptibly for so long in one call, as /proc shows 20 times a second. --probe: writing
# 4 KiB to a file in DIR, and syncing it, takes so long. --buffer: of all processors together, at first 64 MB. --out: where
# recorder-TIME.tar.gz goes, a disk that does not stall. To read it, elsewhere: wblab why recorder-TIME.tar.gz
# It needs root, tracefs (Linux 4.4 or later), and what busybox has. It traces in an instance of its own, and removes that
# however it ends. The file names programs and the kernel's addresses: think of that before you share it.
LC_ALL=C; export LC_ALL; umask 077
say() { echo "recorder: $*" >&2; }; fail() { say "$*"; exit 2; }
whole() { case $2 in ''|0*|*[!0-9]*|????????*) fail "$1 $2: give a whole number" ;; esac; }
PID='' COMM='' PROBE='' OVER=200ms COUNT=1 BUFFER='' OUT=. CLEAN='' I='' W='' P='' T='' JOBS=''
while [ $# -gt 0 ]; do
    case $1 in --clean) CLEAN=1; shift; continue ;; --help|-h) sed -n '2,9s/^# //p' "$0"; exit 0 ;; esac
    [ $# -gt 1 ] || fail "$1 is not known, or lacks a value: see sh $0 --help"
    case $1 in --pid) PID=$2 ;; --comm) COMM=$2 ;; --probe) PROBE=$2 ;; --over) OVER=$2 ;; --count) COUNT=$2 ;;
        --buffer) BUFFER=$2 ;; --out) OUT=$2 ;; *) fail "$1 is not known: see sh $0 --help" ;; esac
    shift 2
done
case $OVER in *ms) n=${OVER%ms} by=ms ;; *s) n=${OVER%s} by=s ;; *) fail "--over $OVER: give it in ms or s, such as 200ms" ;; esac
whole --over "$n"; [ $by = ms ] && OVER=$((n / 10)) || OVER=$((n * 100))
[ "$OVER" -ge 10 ] || fail "--over: at least 100ms; /proc shows no shorter ones"
whole --count "$COUNT"; [ -z "$BUFFER" ] || whole --buffer "$BUFFER"; [ "$(id -u)" = 0 ] || fail "only root may trace: run it as root"
case $CLEAN$PID$COMM$PROBE in '') fail "give --pid, --comm or --probe: see sh $0 --help" ;; esac
[ -z "$PID" ] || { whole --pid "$PID"; [ -d "/proc/$PID" ] || fail "--pid $PID: there is no such process"; }
[ -z "$PROBE" ] || [ -d "$PROBE" ] || fail "--probe $PROBE: it is not a directory"
[ -d "$OUT" ] || fail "--out $OUT: it is not a directory"; OUT=$(cd "$OUT" && pwd); [ -z "$PROBE" ] || PROBE=$(cd "$PROBE" && pwd)
M=/dev/shm; [ -d $M ] && [ ! -h $M ] || M=/run
remove() { # a directory in memory; tracefs may be mounted in it, at a place that others pass by
    umount "$1"/wblab-tracefs-*; rmdir "$1"/wblab-tracefs-*; rm -f "$1"/*; rmdir "$1"
} 2>/dev/null
undo() {
    for job in $JOBS; do kill "$job"; done 2>/dev/null
    [ -z "$I" ] || { echo 0 > "$I/tracing_on"; while [ -d "$I" ] && ! rmdir "$I"; do sleep 1; done; } 2>/dev/null
    [ -z "$P" ] || { rm -f "$P/.wblab-probe"; rmdir "$P"; } 2>/dev/null
    [ -z "$W" ] || remove "$W"
}
trap undo EXIT; trap 'exit 130' INT; trap 'exit 143' TERM HUP PIPE; W=$M/wblab-recorder-$$; mkdir "$W" || { W=''; fail "$M has no room for a directory"; }
while read -r _ place kind _; do case $kind$place in */wblab-tracefs-*) ;; tracefs*) T=$place; break ;; esac; done < /proc/mounts
[ -n "$T" ] || { T=$W/wblab-tracefs-$$; mkdir "$T" && mount -t tracefs tracefs "$T" 2>/dev/null; } || fail "tracefs cannot be mounted: this kernel or container has none"
for d in "$T"/instances/wblab-recorder-* "$M"/wblab-recorder-*; do
    [ -d "$d" ] && [ ! -h "$d" ] && [ ! -d "/proc/${d##*-}" ] || continue
    [ -n "$CLEAN" ] || { say "a killed recorder left $d: sh $0 --clean"; continue; }
    case $d in "$T"/*) rmdir "$d" ;; *) remove "$d" ;; esac && say "removed $d"
done
[ -z "$CLEAN" ] || exit 0; I=$T/instances/wblab-recorder-$$ P=${PROBE:+$PROBE/.wblab-recorder-$$}
(trap '' INT TERM HUP; while [ -d /proc/$$ ]; do sleep 1; done; [ ! -d "$W" ] || undo) > /dev/null 2>&1 & # SIGKILL runs no trap
mkdir "$I" || { I='' P=''; fail "this kernel makes no trace instance"; }
[ -z "$P" ] || mkdir "$P" || { P=''; fail "$PROBE cannot be written"; } # others may plant links in PROBE, not in here
[ -z "$P" ] || { cd "$P" && [ -O . ] && [ -z "$(ls -A)" ]; } || fail "somebody else changes $PROBE: give another directory"
while read -r name kb _; do [ "$name" != MemFree: ] || FREE=$kb; done < /proc/meminfo
set -- "$I"/per_cpu/cpu*; KB=$((${BUFFER:-64} * 1024)); [ -n "$BUFFER" ] || [ $KB -lt $((FREE / 16)) ] || KB=$((FREE / 16))
echo 0 > "$I/tracing_on"; { echo mono > "$I/trace_clock" && echo $((KB / $# + 1)) > "$I/buffer_size_kb"; } || fail "no buffer of $KB KiB: give --buffer"
calls='open openat openat2 creat close write writev pwrite64 pwritev pwritev2 sendfile copy_file_range fallocate truncate ftruncate
fsync fdatasync sync syncfs sync_file_range msync rename renameat renameat2 link linkat unlink unlinkat mkdir mkdirat rmdir io_submit'
writeback='balance_dirty_pages global_dirty_state bdi_dirty_ratelimit writeback_dirty_folio writeback_dirty_page writeback_start
folio_wait_writeback wait_on_page_writeback writeback_single_inode_start writeback_single_inode writeback_written'
block='bio_queue bio_remap getrq rq_insert rq_issue rq_complete rq_requeue' jbd2='start_commit commit_locking commit_flushing commit_logging end_commit checkpoint run_stats checkpoint_stats'
events='sched/sched_switch sched/sched_waking sched/sched_process_fork vmscan/mm_vmscan_throttled lock/contention_begin
lock/contention_end xfs/xfs_log_grant_sleep xfs/xfs_log_grant_wake xfs/xfs_buf_iowait xfs/xfs_log_force'
for name in $calls; do events="$events syscalls/sys_enter_$name syscalls/sys_exit_$name"; done
for name in $writeback; do events="$events writeback/$name"; done; for name in $block; do events="$events block/block_$name"; done
for name in $jbd2; do events="$events jbd2/jbd2_$name"; done; KNOWN=''
for event in $events; do # each kernel has some of them
    [ -e "$I/events/$event/enable" ] && echo 1 > "$I/events/$event/enable" && KNOWN="$KNOWN $I/events/$event/format"
done 2>/dev/null
{ echo 'stacktrace if prev_state & 255' > "$I/events/sched/sched_switch/trigger" &&
    echo stacktrace > "$I/events/sched/sched_waking/trigger"; } 2>/dev/null || say "this kernel records no stacks, so why knows less"
echo 'stacktrace if comm ~ "kworker*"' 2>/dev/null > "$I/events/block/block_bio_queue/trigger"
now() { read -r up _ < /proc/uptime; NOW=$((${up%.*} * 100 + 1${up#*.} - 100)); } # in 10 ms
tasks() { # the directories of the tasks to look at
    [ -z "$PID" ] || { echo "/proc/$PID/task"/*; return; }
    for p in /proc/[0-9]*; do read -r name < "$p/comm" && [ "$name" = "$COMM" ] && echo "$p/task"/*; done
}
@FACTS@
probe() { # sets TOOK and WHO
    WHO="the probe in $PROBE"; while now; began=$NOW; do
        dd if=/dev/zero of=.wblab-probe bs=4096 count=1 conv=fsync 2>/dev/null || fail "$PROBE cannot be written"
        now; TOOK=$((NOW - began)); [ $TOOK -lt "$OVER" ] || return 0; sleep 1
    done
}
call_of() { # sets CALL: the system call that a task is in, and how many reads and writes it has made
    CALL=''; read -r CALL < "$1/syscall"; while read -r name made; do case $name in sysc?:) CALL=$CALL:$made ;; esac; done < "$1/io"; CALL=:$CALL
}
look() { # sets TOOK and WHO. A stall is one sleep, or those of one call, as at a dirty limit; one of over a minute is not awaited
    [ -z "$PROBE" ] || { probe; return; }; LOOKED=-200 LONG=''
    while now; do
        [ -n "$LONG" ] || [ $((NOW - LOOKED)) -lt 100 ] || { TASKS=$(tasks 2>/dev/null); LOOKED=$NOW; }
        [ -z "$PID" ] || [ -d "/proc/$PID" ] || { say "process $PID has ended"; return 1; }
        LONG=''; for t in $TASKS; do # TOOK: from the first to the last look that saw the stall, so it was longer
            k=${COUNT}_${t##*/} WHO="task ${t##*/}"; read -r stat < "$t/stat" || stat='gone) X '
            eval "since=\${since_$k:-0} TOOK=\${took_$k:-0} sleep=\$sleep_$k call=\$call_$k awake=\$awake_$k"
            case ${stat##*) } in
                D*) while read -r name n; do [ "$name" != voluntary_ctxt_switches: ] || break; done < "$t/status" # the number of its sleep
                    CALL=$call; [ "$n" = "$sleep" ] || call_of "$t"; case $CALL in :running*) continue ;; esac # just now
                    if [ "$n" = "$sleep" ] || { [ -n "$sleep" ] && [ "$CALL" = "$call" ]; }; then TOOK=$((NOW - since)); [ $TOOK -lt 6000 ] || return 0
                    else [ $TOOK -lt "$OVER" ] || return 0; now; since=$NOW TOOK=0; fi; sleep=$n call=$CALL awake=''
                    [ $TOOK -lt "$OVER" ] || [ -e "$W/facts.txt" ] || facts > "$W/facts.txt" ;; # its stack, while it sleeps
                *) [ -z "$awake" ] || return 0; [ $TOOK -lt "$OVER" ] && sleep='' TOOK=0 || awake=1 ;; # two looks show an end
            esac
            [ $TOOK -lt "$OVER" ] || LONG=1; eval "since_$k=\$since took_$k=\$TOOK sleep_$k=\$sleep call_$k=\$call awake_$k=\$awake"
        done 2>/dev/null; sleep $NAP
    done
}
keep() { # the pages of each processor. Who has read them all waits for more, and is ended then
    [ -e "$W/facts.txt" ] || facts > "$W/facts.txt"
    set -- $(sed -n 's/.*field: char data;.*offset:\([0-9]*\);.*size:\([0-9]*\);.*/\1 \2/p' "$I/events/header_page")
    for cpu in "$I"/per_cpu/cpu*; do
        cat "$cpu/stats" > "$W/${cpu##*/}.stats"
        dd if="$cpu/trace_pipe_raw" of="$W/${cpu##*/}.raw" bs=$(($1 + $2)) 2>/dev/null & JOBS="$JOBS $!"
    done
    size=; until [ "$size" = "$(ls -ln "$W")" ]; do size=$(ls -ln "$W"); sleep 1; done; for job in $JOBS; do kill "$job"; wait "$job"; done 2>/dev/null; JOBS=''
    cat "$I/events/header_page" > "$W/header_page"; cat "$T/saved_cmdlines" > "$W/cmdlines"
    grep '' $KNOWN "$I"/events/ftrace/*/format > "$W/formats"; grep -i ' [tw] ' /proc/kallsyms > "$W/functions"
    { echo '==> /proc/diskstats <=='; cat /proc/diskstats; } >> "$W/facts.txt" # again: the rates of the disks
    { echo "stall $((TOOK * 10)) ms, $WHO"; uname -a; } > "$W/recorder"
    name=$OUT/recorder-$(date -u +%Y%m%d-%H%M%S).tar.gz # follows no link that somebody made there
    (set -C; cd "$W" && tar -cz -f - [!w]* > "$name") || fail "$name cannot be written"
    say "$WHO stalled for $((TOOK * 10)) ms: $name"; rm -f "$W"/[!w]*
}
say "waiting; Ctrl-C ends it"; sleep 0.05 2>/dev/null && NAP=0.05 || NAP=1
while [ "$COUNT" -gt 0 ] && echo 1 > "$I/tracing_on" && look; do
    echo "wblab: $WHO stalled for $((TOOK * 10)) ms until now" > "$I/trace_marker"
    sleep 1; echo 0 > "$I/tracing_on"; keep; COUNT=$((COUNT - 1))
done
