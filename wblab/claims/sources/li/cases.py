"""The runs for Li's claims that need a kernel of their own: on locks, and on several processors."""

from wblab.claims.sources.case import Case

_LOCK = "&conf->resync_lock"  # as drivers/md/raid1.c gives it to spin_lock_init
_ACQUIRED = f"trace.filters={{'lock:lock_acquire'='name == \"{_LOCK}\"'}}"
_EVENTS = ("lock:lock_acquire",)

PROCESSORS = 2
# A call of a MiB becomes 256 requests of 4 KiB, which take no time but the processors'.
_PART = "size='16MiB', model='ram', filesystem='none'"
_MIRROR = "mirror={model='raid1', on=['a', 'b'], filesystem='none', queue={max_sectors_kb=4}}"
_ROUNDS = 25
_PROGRAM = ["python3", "-m", "wblab.claims.sources.li.programs.readers", "/dev/md0", str(_ROUNDS)]
_READERS = (
    "clock.mode=real",
    "memory=160MiB",
    "phase={}",
    "trace.events=[]",
    f"disk={{a={{{_PART}}}, b={{{_PART}}}, work={{size='16MiB', model='ram'}}, {_MIRROR}}}",
    f"load={{c1={{kind='control', idle='50ms'}}, l1={{kind='command', disk='work', wait='1s', argv={_PROGRAM}}}}}",
)

LI_CASES = {
    "mirror-locks": Case(
        "mirror", "the same mirror on a kernel that traces locks", (_ACQUIRED,), _EVENTS, kernel="+lock-stat"
    ),
    "mirror-old-locks": Case(
        "mirror", "the same with the lock of Linux 4.10", (_ACQUIRED,), _EVENTS, kernel="+lock-stat+resync-lock"
    ),
    "readers": Case(
        "mirror", "a thread on each processor reads a mirror of RAM disks", _READERS, kernel=f"+smp@{PROCESSORS}"
    ),
    "readers-old": Case(
        "mirror", "the same with the lock of Linux 4.10", _READERS, kernel=f"+smp+resync-lock@{PROCESSORS}"
    ),
}
