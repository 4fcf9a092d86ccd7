"""Programs that the OOM killer ended, read from a guest's console."""

import re
from dataclasses import dataclass
from pathlib import Path

from wblab.core.files import open_file
from wblab.core.units import Bytes, format_bytes
from wblab.lab.formats import CONSOLE
from wblab.lab.printable import printable

# dump_oom_victim() in mm/oom_kill.c, and mem_cgroup_print_oom_meminfo() in mm/memcontrol.c before it.
_KILL = re.compile(
    rb"\[ *(\d{1,9}\.\d{1,9})\] oom-kill:constraint=\w{1,40},[^\r\n]{0,200}?"
    rb"(?:oom_memcg=(/[^\r\n]{0,200}?)|global_oom),task_memcg=[^\r\n]{0,200}?,task=([^\r\n]{1,15}),pid=(\d{1,10}),uid="
)
_LIMIT = re.compile(rb"\] memory: usage \d{1,15}kB, limit (\d{1,15})kB")
_MOST_BYTES = 4 << 20
_UNLIMITED = 1 << 60


@dataclass(frozen=True)
class OomKill:
    """A program that was killed. at_s: by the kernel's log; group: whose memory was full, empty for the machine's.

    limit: of the group's memory, 0 if unknown.
    """

    at_s: float
    task: str
    pid: int
    group: str
    limit: Bytes


def said(kill: OomKill, zero_s: float = 0.0) -> str:
    """Return a kill as a clause. zero_s: the time from which it is counted; by default the guest's boot."""
    whose = "the machine's memory was full"
    if kill.group:
        limit = f" of {format_bytes(kill.limit)}" if kill.limit else ""
        whose = f"its control group *{kill.group}* had reached its limit of memory{limit}"
    at = f"at {kill.at_s - zero_s:.1f} s" if zero_s else f"at guest time {kill.at_s:.1f} s"
    return f"The kernel killed {kill.task} {at}, as {whose} (OOM killer)"


def oom_kills(run: Path) -> list[OomKill]:
    """Return the OOM kills of a run, in order; none if its console cannot be read. Its text is untrusted."""
    try:
        with open_file(run / CONSOLE) as file:
            text = file.read(_MOST_BYTES)
    except OSError:
        return []
    found, since = [], 0
    for kill in _KILL.finditer(text):
        limits = _LIMIT.findall(text, since, kill.start())
        limit = int(limits[-1]) << 10 if limits and kill[2] else 0
        since = kill.end()
        names = [printable(name.decode(errors="replace")) for name in (kill[3], (kill[2] or b"").removeprefix(b"/"))]
        size = Bytes(limit if limit < _UNLIMITED else 0)
        found.append(OomKill(float(kill[1]), names[0], int(kill[4]), names[1], size))
    return found
