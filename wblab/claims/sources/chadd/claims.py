"""Claims of A. Chadd's slides "Writing Disk-IO efficient applications": what stalls a program with one main loop."""

import numpy as np

from wblab.analysis.statistics.decision import between, over, under
from wblab.claims.sources.case import Case
from wblab.claims.sources.chadd.below import layer_claims
from wblab.claims.sources.claim import Claim, Measure, untested
from wblab.claims.sources.figures import Figure, against, longest_s, moved, on_case, requests_a_cycle
from wblab.claims.sources.sample import Sample
from wblab.core.units import NS_PER_MS, NS_PER_S

# The runs for Chadd's claims on memory and on stacked disks.

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
    """Return the command of a load that runs one of wblab.claims.sources.chadd.programs."""
    return str(["python3", "-m", f"wblab.claims.sources.chadd.programs.{name}", *arguments])


def _group(command: str) -> str:
    return f"r1={{kind='repeat', idle='200ms', argv=['sh', '-c', '{_COLD}; {command}']}}"


def _objects(store: str, command: str) -> str:
    server = f"s1={{kind='serve', file='s1', idle='60s', put_every=0, store='{store}'}}"
    return f"load={{{server}, {_group(command)}, {_END % '4s'}}}"


def _on_file(size: str, name: str, *arguments: str) -> str:
    """Return the loads that make a file of this size and run a program on it repeatedly."""
    file = f"f1={{kind='read', file='f1', size='{size}', idle='600s'}}"
    return (
        f"load={{{file}, r1={{kind='repeat', idle='300ms', argv={_program(name, 'f1', *arguments)}}}, {_END % '12s'}}}"
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


STALL_S = 0.1  # a loop that answers nobody for longer is stalled
FREE_MS = 20
_PARADIGMS = "paradigms of disk I/O"
_LOGS = "logging"
_STORES = "stores of objects"
_DISKS = "disks"


def longest_ms(name: str) -> Figure:
    """Return the figure: a load's longest pause in ms."""
    return lambda sample: 1000 * sample.longest_s(name)


def before_offender_ms(sample: Sample) -> float:
    """Return the server's median pause before the offender starts, in ms: gets from an idle disk."""
    item = sample.run.load("s1")
    alone = item.starts_ns < sample.run.offender_starts_ns()["l1"]
    return float(np.median(item.pauses_ns[alone])) / NS_PER_MS


def dropped_share(name: str) -> Figure:
    """Return the figure: the share of a load's cycles that dropped their work, in per cent."""

    def share(sample: Sample) -> float:
        item = sample.run.load(name)
        return 100 * item.dropped / len(item.durations_ns)

    return share


def first_stall_share(sample: Sample) -> float:
    """Return dirty memory when the log first stalled its loop, in per cent of the background threshold."""
    item = sample.run.load("g1")
    stopped = np.flatnonzero(item.pauses_ns > STALL_S * NS_PER_S)
    if not len(stopped):
        return float("inf")
    state = sample.traced.state
    at = max(int(np.searchsorted(state.ts_ns, item.starts_ns[stopped[0]], side="right")) - 1, 0)
    return 100 * float(state.dirty[at] / state.background[at])


def cycle_rate(sample: Sample, name: str) -> float:
    """Return a load's cycles a second."""
    return NS_PER_S / float(sample.run.load(name).durations_ns.mean())


def later_passes(sample: Sample) -> float:
    """Return requests for each pass over a device, not counting the first two passes."""
    bounds_ns = sample.run.load("d1").boundaries_ns
    return moved(sample, "R", int(bounds_ns[2])).count / (len(bounds_ns) - 3)


def paused_share(sample: Sample) -> float:
    """Return the share of time in which the server's loop was stalled, in per cent."""
    item = sample.run.load("s1")
    return 100 * float(item.pauses_ns.sum() / item.durations_ns.sum())


def chadd_claims() -> tuple[Claim, ...]:
    """Return his claims, in the order of their numbers."""
    found = [*_paradigms(), *_logs(), *_stores(), *_sizes(), *_memory(), *layer_claims(), *_open()]
    return tuple(sorted(found, key=lambda claim: int(claim.name.partition("-")[0][1:])))


def _paradigms() -> list[Claim]:
    stall = "longest stall of a loop that serves objects beside l1"
    return [
        on_case("c1-sync", "synchronous I/O stalls the loop", _PARADIGMS, "loop-sync",
            Measure(stall, "s", longest_s("s1"), over(STALL_S), f"over {STALL_S} s")),
        on_case("c2-threads", "calls in threads leave the loop free", _PARADIGMS, "loop-threads",
            Measure(stall, "ms", longest_ms("s1"), under(FREE_MS), f"under {FREE_MS} ms")),
        against("c3-aio", "POSIX AIO on Linux does one operation per descriptor at a time", _PARADIGMS,
                 "aio-one", "aio-many", dropped_share("s1"),
                 "requests dropped with all objects in one file, minus those with one file each", "% of requests",
                 lambda one, many: one - many, over(25), "over 25 %, on a disk that serves 16 at once"),
        against("c5-close", "write and close can stall the loop as well: hand over all five calls", _PARADIGMS,
                 "loop-some", "loop-threads", longest_s("s1"),
                 "longest stall with write and close left to the loop, minus that with all five handed over", "s",
                 lambda some, all_: some - all_, over(STALL_S), f"over {STALL_S} s", is_log=False),
        on_case("c18-sendfile", "sendfile stalls the loop on files that are not in memory", _PARADIGMS, "loop-sendfile",
            Measure("median stall of a loop that sends objects, without an offender", "ms", before_offender_ms,
                    over(1), "at least 1 ms, the disk's time for a request")),
    ]  # fmt: skip


def _logs() -> list[Claim]:
    return [
        on_case("c6-log", "a log that the loop writes stalls it long before the cache is full", _LOGS, "loop-sync",
            Measure(f"dirty at the first stall over {STALL_S} s / background threshold", "%", first_stall_share,
                    under(100), "less than 100 %",
                    "On Linux nothing blocks a write until writeback starts or a limit is reached")),
        on_case("c7-pipe", "a loop that logs through a pipe to a process does not stall", _LOGS, "loop-sendfile",
            Measure("longest stall of a loop that logs through a pipe, beside l1", "ms", longest_ms("g1"),
                    under(FREE_MS), f"under {FREE_MS} ms")),
        on_case("c7-drops", "a full pipe drops log entries", _LOGS, "pipe-small",
            Measure("lines dropped, beside l1, with a pipe of 4 KiB", "% of lines", dropped_share("g1"), over(0),
                    "some")),
    ]  # fmt: skip


def _stores() -> list[Claim]:
    return [
        on_case("c9-cold", "reading a cold object in its own file takes 6 to 8 requests", _STORES, "cold-all",
            Measure("requests for each object after all caches were dropped", "requests", requests_a_cycle("r1", "R"),
                    between(6, 8), "6 to 8",
                    "His stores have three levels of directories, too; inodes made together share a block")),
        against("c10-metadata",
                "caching directories and inodes cuts the requests for a cold object", _STORES, "cold-data", "cold-all",
                 requests_a_cycle("r1", "R"), "requests with directories and inodes cached / without", "×",
                 lambda data, all_: data / all_, under(0.5), "at most half"),
        against("c12-requests", "a log in segments of 1 MiB minimises the number of writes", _STORES, "put-cyclic",
                 "put-files", requests_a_cycle("s1", "W"), "writes for each object / with one file each", "×",
                 lambda log, files: log / files, under(0.9), "at least a tenth fewer"),
        on_case("c22-atime", "opening and reading may write (atime)", _STORES, "gets",
            Measure("writes for each object read, with nothing else to write", "requests", requests_a_cycle("s1", "W"),
                    over(0.01), "some", "relatime, the default, records when a new file is first read")),
    ]  # fmt: skip


def _sizes() -> list[Claim]:
    return [
        against("c8-sizes",
                 "a disk does nearly as many reads of 64 KiB a second as of 512 B: 14 % fewer (SATA, 7200 rpm)",
                 _DISKS, "reads-64k", "reads-512", lambda sample: cycle_rate(sample, "r1"),
                 "fewer reads a second, 64 KiB against 512 B", "%", lambda large, small: 100 * (1 - large / small),
                 between(12, 16), "12 to 16 %, by the lab's model of that disk"),
        on_case("c20-cached", "Linux caches reads from a raw device", _DISKS, "raw",
            Measure("requests of a pass over 1 MiB of a device after the first", "requests", later_passes, under(0.1),
                    "none")),
        on_case("c20-direct", "Linux does not cache reads with O_DIRECT from a raw device", _DISKS, "raw-direct",
            Measure("requests of a pass over 1 MiB of a device after the first", "requests", later_passes, over(1),
                    "as many as in the first")),
    ]  # fmt: skip


def _memory() -> list[Claim]:
    return [
        against("c15-merge", "writes through mapped memory merge if neighbouring pages become dirty in time",
                 "mmap", "mapped-order", "mapped-random", lambda sample: moved(sample, "W").mean,
                 "mean write, pages dirtied in order / at random", "×", lambda one, other: one / other, over(2),
                 "at least twice as large"),
        on_case("c27-ram", "Varnish's way, objects in mapped memory, is good in RAM", "mmap", "map-ram",
            Measure("share of time that the loop was stalled, 1 MiB in 100 MiB of memory", "%", paused_share, under(10),
                    "at most 10 %")),
        on_case("c27-beyond", "Varnish's way is bad beyond RAM", "mmap", "map-beyond",
            Measure("share of time that the loop was stalled, 256 MiB in 100 MiB of memory", "%", paused_share,
                    over(20), "at least 20 %")),
    ]  # fmt: skip


def _open() -> list[Claim]:
    reasons = (
        ("c4-polling", "polling n pending operations costs O(n)",
         "glibc polls in memory, without a system call; in virtual time the processor's work takes no time"),
        ("c11-evicts", "load evicts directories and inodes", "no load of the lab walks directories repeatedly"),
        ("c14-small", "many small files also cost metadata and journal",
         "data still dirty at the end of a run is not in its trace, so bytes for each object come out too low"),
        ("c26-bursts", "in bursts queue and service time snowball: accept no more than fits",
         "a loop's cycles show how long it stalled, not how long a request took"),
    )  # fmt: skip
    return [Claim(name, says, "not tested", (), untested(why)) for name, says, why in reasons]
