"""Random experiments: loads, agents, groups, limits, stacks and filesystems that nobody chose, decided by a number."""

from random import Random
from typing import Any

_MIB = 1 << 20
_SIZE = {"ext4": 200, "ext3": 200, "ext2": 200, "xfs": 340, "btrfs": 260, "f2fs": 200, "vfat": 200, "exfat": 200}
_FILESYSTEMS = ["ext4"] * 8 + ["xfs"] * 4 + ["btrfs"] * 3 + ["ext3", "ext2", "f2fs", "vfat", "exfat"]
_RATES = [512 << 10, _MIB, 2 * _MIB, 4 * _MIB, 8 * _MIB, 16 * _MIB]
_LONGEST_S = 20  # in which a disk writes what an offender writes
# Programs as people have them: one writes and syncs, one makes many small files, one holds a lock over an fsync.
_WRITER = "import os; g = os.open('{file}', 577); os.write(g, bytes({size})); os.{sync}(g)"
_MANY = """
import os
for i in range({count}):
    g = os.open(f'{file}.{{i}}', 577); os.write(g, bytes({each})); os.close(g)
"""
_LOCKER = """
import fcntl, os
g = os.open('lock', 66); fcntl.flock(g, 2); h = os.open('{file}', 1025 | 64); os.write(h, bytes({size})); os.fsync(h)
"""


def table(number: int) -> dict[str, Any]:
    """Return a random spec, as its TOML file would have it. The same number gives the same spec."""
    draw = Random(f"random spec {number}")
    disks = _disks(draw)
    names = [name for name, disk in disks.items() if disk["filesystem"] != "none"]
    rates = {name: _rate(disks, name) for name in names}
    loads: dict[str, Any] = {"c1": {"kind": "control", "idle": "50ms"}}
    for place in range(draw.randint(1, 3)):
        loads[f"v{place}"] = _innocent(draw, f"v{place}") | {"disk": draw.choice(names)}
    for place in range(draw.randint(1, 3)):
        name = draw.choice(names)
        loads[f"o{place}"] = _offender(draw, f"o{place}", rates[name]) | {"disk": name}
    spec: dict[str, Any] = {
        "name": f"random-{number}",
        "seed": number + 1,
        "memory": f"{draw.choice([90, 120, 160])}MiB",
        "time_limit": "150s",
        "disk": disks,
        "sysctl": _thresholds(draw),
        "trace": {"events": ["writeback:balance_dirty_pages", "writeback:global_dirty_state"], "lead": "1s"},
        "load": loads,
    }
    if draw.random() < 0.3:
        spec["cgroup"] = _groups(draw, [name for name in loads if name != "c1"], disks)
    if draw.random() < 0.15:
        spec["agent"] = {"a0": {"argv": ["python3", "-c", _agent(draw, names[0])]}}
    if draw.random() < 0.2:
        spec["phase"] = {"p0": {"at": f"{draw.randint(2, 8)}s", "sysctl": _thresholds(draw)}}
    return spec


def _disks(draw: Random) -> dict[str, Any]:
    """Return one or two disks, or one that is made of others."""
    if draw.random() < 0.2:
        lower = _hardware(draw) | {"filesystem": "none"}
        how = draw.choice(["delay", "raid1"])
        if how == "delay":
            upper = {"model": "delay", "on": ["below"], "delay": f"{draw.choice([2, 10, 40])}ms"}
            return {"below": lower, "top": upper | {"filesystem": _of(draw, lower)}}
        other = lower | {"write_bps": draw.choice(_RATES)}
        return {
            "below": lower,
            "below2": other,
            "top": {"model": "raid1", "on": ["below", "below2"], "filesystem": "ext4"},
        }
    disks = {"d0": _hardware(draw)}
    if draw.random() < 0.35:
        disks["d1"] = _hardware(draw)
    return disks


def _of(draw: Random, lower: dict[str, Any]) -> str:
    return draw.choice([each for each in _FILESYSTEMS if _SIZE[each] * _MIB <= lower["size"]])


def _hardware(draw: Random) -> dict[str, Any]:
    filesystem = draw.choice(_FILESYSTEMS)
    disk: dict[str, Any] = {
        "size": _SIZE[filesystem] * _MIB,
        "filesystem": filesystem,
        "model": draw.choice(["device"] * 4 + ["throttle"]),
        "write_bps": draw.choice(_RATES),
        "queue": {"wbt_lat_usec": 0},
        "scheduler": draw.choice(["mq-deadline", "none", "bfq", "kyber"]),
    }
    if draw.random() < 0.3:
        disk["queue"]["nr_requests"] = draw.choice([4, 16, 64])
    if draw.random() < 0.2:
        disk["bdi"] = {"strict_limit": 1, "max_ratio": draw.choice([1, 5, 20])}
    if disk["model"] == "device":
        disk["latency"] = draw.choice(["50us", "1ms", "8ms"])
        extra = draw.random()
        if extra < 0.15:
            disk |= {"cache_bytes": 8 * _MIB, "drain_bps": disk["write_bps"] // 4}
        elif extra < 0.3:
            disk["seek_time"] = draw.choice(["4ms", "12ms"])
        elif extra < 0.4:
            disk |= {"stall_every": 4 * _MIB, "stall_time": "700ms"}
    return disk


def _rate(disks: dict[str, Any], name: str) -> int:
    """Return what a disk writes in a second, in the end."""
    disk = disks[name]
    if "on" in disk:
        return min(_rate(disks, each) for each in disk["on"])
    rate: int = disk.get("drain_bps", disk["write_bps"])
    return rate


def _thresholds(draw: Random) -> dict[str, int]:
    if draw.random() < 0.25:
        limit = draw.choice([4, 8, 16]) * _MIB
        return {"vm.dirty_background_bytes": limit // 2, "vm.dirty_bytes": limit}
    background, limit = draw.choice([(4, 80), (10, 20), (5, 40), (20, 30)])
    return {"vm.dirty_background_ratio": background, "vm.dirty_ratio": limit}


def _innocent(draw: Random, name: str) -> dict[str, Any]:
    idle = f"{draw.choice([30, 100, 300])}ms"
    kind = draw.choice(["write", "multiwrite", "syncwrite", "commit", "syncfs", "read", "mapped", "loop", "repeat"])
    load: dict[str, Any] = {"kind": kind, "idle": idle}
    if kind == "repeat":
        program = draw.choice(
            [_WRITER.format(file=name, size=4096, sync="fsync"), _LOCKER.format(file=name, size=4096)]
        )
        return load | {"argv": ["python3", "-c", program]}
    if kind != "syncfs":
        load["file"] = name
    if kind == "syncwrite":
        load["method"] = draw.choice(["fsync", "fdatasync", "O_SYNC", "O_DIRECT", "sync_file_range", "none"])
    if kind in ("read", "mapped"):
        load["size"] = 4 * _MIB
    if kind in ("write", "multiwrite"):
        load["block"] = draw.choice([1, 4096, 65536])
    return load


def _offender(draw: Random, name: str, rate: int) -> dict[str, Any]:
    size = min(draw.choice([8, 16, 32, 48]) * _MIB, _LONGEST_S * rate)
    wait = f"{draw.randint(1, 6)}s"
    kind = draw.choice(["load", "load", "load", "chunks", "many", "writer", "locker"])
    if kind == "load":
        return {"kind": kind, "file": name, "wait": wait, "size": size, "block": draw.choice([4096, 65536, _MIB])}
    if kind == "chunks":
        sizes = {"kind": kind, "file": name, "wait": wait, "size": size - size % 16384}
        return sizes | {"fsync": draw.choice(["0000", "0101"])}
    programs = {
        "many": _MANY.format(file=name, count=32, each=size // 32),
        "writer": _WRITER.format(file=name, size=size, sync=draw.choice(["fsync", "fdatasync", "close"])),
        "locker": _LOCKER.format(file=name, size=size),
    }
    return {"kind": "command", "wait": wait, "argv": ["python3", "-c", programs[kind]]}


def _groups(draw: Random, loads: list[str], disks: dict[str, Any]) -> dict[str, Any]:
    some = draw.sample(loads, draw.randint(1, len(loads)))
    files: dict[str, Any] = {}
    what = draw.choice(["memory.high", "cpu.max", "io.max", "io.weight"])
    if what == "memory.high":
        files[what] = 16 * _MIB
    elif what == "cpu.max":
        files[what] = draw.choice(["10000 100000", "50000 100000"])
    elif what == "io.max" and all(disk["model"] != "throttle" for disk in disks.values()):
        files[what] = f"{{disk}} wbps={draw.choice([256 << 10, _MIB])}"
    else:
        files["cpu.weight"] = draw.choice([10, 1000])
    return {"g0": {"loads": some, "files": files}}


def _agent(draw: Random, disk: str) -> str:
    """Return a program beside the loads, which writes to a disk now and then."""
    return (
        "import os, signal, time\nsignal.signal(15, lambda *_: os._exit(0))\n"
        f"while True:\n    time.sleep({draw.choice([1, 3])}); g = os.open('/mnt/{disk}/agent', 577); "
        f"os.write(g, bytes({draw.choice([64 << 10, 2 * _MIB])})); os.{draw.choice(['fsync', 'close'])}(g)\n"
    )
