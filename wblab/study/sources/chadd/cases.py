"""The runs for Chadd's claims on memory and on stacked disks."""

from wblab.study.sources.case import Case

_FAST_DISK = ("disk.depth=16", "disk.latency=20ms")  # serves requests in parallel
_HDD = (
    "disk.mkfs_options=['-b', '4096', '-O', '^has_journal']",  # a journal keeps blocks until a checkpoint
    *("disk.latency=0", "disk.seek_time=8380us", "disk.write_bps=51MB/s"),
)
_END = "l1={kind='load', file='l1', wait='%s', size='64KiB', block='64KiB'}"
_COLD = "echo 3 > /proc/sys/vm/drop_caches"

# Objects of the load s1 in files, see wblab.core.loads.stores.
_OBJECTS = " ".join(f"s1/{place % 16:02x}/{place // 16:02x}/{place:08x}" for place in range(5, 256, 35))
_WALK = "b1={kind='read', file='b1', size='192MiB', block='256KiB', idle='1us', order='sequential', start='6s'}"
_HOT = "h1={kind='read', file='h1', size='2MiB', idle='4ms', cache='warm', start='%s'}"

_DISK = "size='64MiB', filesystem='none', model='device', write_bps='8MiB/s', latency='5ms'"
_SINGLE = f"disk={{a={{{_DISK}}}}}"
_MIRROR = f"disk={{a={{{_DISK}}}, b={{{_DISK}}}, mirror={{model='raid1', on=['a', 'b'], filesystem='none'}}}}"
_READERS = ", ".join(f"r{place}={{kind='raw', through='direct', size='64MiB', idle='1us'}}" for place in range(4))
_COPY = "l1={kind='rawload', through='direct', wait='4s', size='%s', block='64KiB'}"

_FILESYSTEMS = (
    "disk={a={size='160MiB', model='device', write_bps='8MiB/s', latency='1ms', queue={wbt_lat_usec=0}}, "
    "one={model='loop', on=['a'], size='64MiB'}, two={model='loop', on=['a'], size='64MiB'}}"
)
_INNOCENT = (
    "mw1={kind='multiwrite', disk='%s', file='mw1', idle='100ms', block='4KiB'}, "
    "k1={kind='commit', disk='%s', file='k1', idle='100ms'}"
)
_OFFENDER = "l1={kind='load', disk='one', file='l1', wait='3s', size='48MiB', block='64KiB'}"


def _program(name: str, *arguments: str) -> str:
    """Return the command of a load that runs one of wblab.study.sources.chadd.programs."""
    return str(["python3", "-m", f"wblab.study.sources.chadd.programs.{name}", *arguments])


def _group(command: str) -> str:
    return f"r1={{kind='repeat', idle='200ms', argv=['sh', '-c', '{_COLD}; {command}']}}"


def _objects(store: str, command: str) -> str:
    server = f"s1={{kind='serve', file='s1', idle='60s', put_every=0, store='{store}'}}"
    return f"load={{{server}, {_group(command)}, {_END % '4s'}}}"


def _on_file(size: str, name: str, *arguments: str) -> str:
    """Return the loads that make a file of this size and run a program on it repeatedly."""
    file = f"f1={{kind='read', file='f1', size='{size}', idle='600s'}}"
    return (
        f"load={{{file}, r1={{kind='repeat', idle='300ms', argv={_program(name, 'f1', *arguments)}}}, {_END % '4s'}}}"
    )


def _once(name: str, *arguments: str) -> str:
    """Return the loads that make a file and run a program on it once."""
    file = "f1={kind='read', file='f1', size='16MiB', idle='600s'}"
    return f"load={{{file}, l1={{kind='command', wait='1s', argv={_program(name, 'f1', *arguments)}}}}}"


def _walk(hot_from: str) -> tuple[str, ...]:
    return "disk.size=256MiB", "disk.write_bps=40MiB/s", f"load={{{_HOT % hot_from}, {_WALK}, {_END % '16s'}}}"


def _on_filesystem(disk: str, what: str) -> Case:
    return Case("loop", what, (_FILESYSTEMS, f"load={{{_INNOCENT % (disk, disk)}, {_OFFENDER}}}"))


def _of_advice(order: str, advice: str) -> Case:
    what = f"32 pages of a mapped file in {order} order, advice: {advice}"
    return Case("loop", what, (*_FAST_DISK, _on_file("64MiB", "advice", "32", order, advice)))


def _case(preset: str, what: str, *settings: str) -> Case:
    return Case(preset, what, settings)


CHADD_CASES = {
    "group-apart": _case(
        "loop",
        "eight objects fetched together, each in its own file",
        *_HDD,
        _objects("files", f"cat {_OBJECTS} > /dev/null"),
    ),
    "group-packed": _case(
        "loop",
        "the same, side by side in one file",
        *_HDD,
        _objects("packed", "dd if=s1 of=/dev/null bs=128k skip=2 count=1 status=none"),
    ),
    "msync-small": _case("loop", "msync of 1 MiB with 64 dirty pages", *_HDD, _on_file("1MiB", "msync", "64")),
    "msync-large": _case("loop", "the same with 64 MiB", *_HDD, _on_file("64MiB", "msync", "64")),
    "msync-few": _case("loop", "the same with 16 dirty pages", *_HDD, _on_file("64MiB", "msync", "16")),
    "advice-none": _of_advice("random", "none"),
    "advice-random": _of_advice("random", "random"),
    "advice-willneed": _of_advice("random", "willneed"),
    "walk-none": _of_advice("sequential", "none"),
    "walk-sequential": _of_advice("sequential", "sequential"),
    "later": Case("loop", "a file that is changed after it was sent", (_once("later"),)),
    "cancel": Case("loop", "eight reads that are cancelled", (*_FAST_DISK, _once("cancel", "8"))),
    "hot-often": _case("loop", "2 MiB read repeatedly, beside a walk through a larger file", *_walk("0s")),
    "hot-once": _case("loop", "2 MiB that were read once before such a walk", *_walk("15s")),
    "reads-one": _case("linear", "four readers of one disk", _SINGLE, f"load={{{_READERS}, {_COPY % '64KiB'}}}"),
    "reads-mirror": _case("linear", "the same on a mirror", _MIRROR, f"load={{{_READERS}, {_COPY % '64KiB'}}}"),
    "writes-one": _case("linear", "a copy to one disk", _SINGLE, f"load={{{_COPY % '8MiB'}}}"),
    "writes-mirror": _case("linear", "the same to a mirror", _MIRROR, f"load={{{_COPY % '8MiB'}}}"),
    "filesystem-one": _on_filesystem("one", "a fast writer and others on the same filesystem"),
    "filesystem-two": _on_filesystem("two", "the same, the others on a second filesystem of the same disk"),
}
