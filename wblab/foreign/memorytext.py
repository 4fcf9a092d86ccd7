"""What a text shows of a machine's memory: /proc/meminfo, /proc/vmstat, sysctl, pressure; and its dirty limits.

The limits are the kernel's own where /proc/vmstat has them (Linux 2.6.37 and later). Else they are computed as the
kernel does (mm/page-writeback.c, domain_dirty_limits): from bytes, or as a share of dirtyable memory, which is free
memory and the page cache without what the kernel keeps in reserve. The reserve is not in such texts, so such a limit is
a little lower than what is said here: "about".
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

Source = Literal["vmstat", "bytes", "ratio"]

_KIB = 1024
_PAGE_SIZES = (4096, 16384, 65536)
_MEMINFO = re.compile(r"([A-Z][\w()]{2,24}):\s{1,40}(\d{1,15}) kB")
_VMSTAT = re.compile(r"(nr_\w{2,40}) (\d{1,18})")
_SYSCTL = re.compile(r"vm[./](\w{3,40})\s{0,8}=\s{0,8}(\d{1,18})(?:\s{0,40}[#;].*)?")
_SYSCTL_FILE = re.compile(r"/proc/sys/vm/(\w{3,40})")
_PRESSURE_FILE = re.compile(r"/proc/pressure/(cpu|io|memory)")
_PRESSURE = re.compile(r"(some|full) avg10=(\d{1,3}\.\d\d) avg60=(\d{1,3}\.\d\d) avg300=(\d{1,3}\.\d\d)")
_RELEASE = re.compile(r"\bLinux (?:version |[\w.-]{1,64} )?(\d{1,2}\.\d{1,3}[\w.+~-]{0,60})(?= |$)")
_SETTINGS = ("dirty_ratio", "dirty_bytes", "dirty_background_ratio", "dirty_background_bytes")
_SIZES = {  # of pages that both files count
    "Active(file)": "nr_active_file",
    "Inactive(file)": "nr_inactive_file",
    "Mapped": "nr_mapped",
    "AnonPages": "nr_anon_pages",
    "Shmem": "nr_shmem",
}
_LEAST_PAGES = 1000  # so that a moment between two files does not count


@dataclass(frozen=True)
class DirtyLimit:
    """A limit on dirty memory, in bytes. low_bytes: where it may be lower, as old kernels differ; else the same."""

    size_bytes: int
    low_bytes: int
    source: Source

    @property
    def is_exact(self) -> bool:
        """Whether it is the kernel's own figure."""
        return self.source != "ratio"


@dataclass(frozen=True)
class Limits:
    """The limit at which every writer waits, the one from which the kernel writes back, and that of being slowed."""

    dirty: DirtyLimit
    background: DirtyLimit

    @property
    def slowed_from_bytes(self) -> int:
        """How much must be dirty for the kernel to slow those who write: half way between the two."""
        return (self.dirty.low_bytes + self.background.low_bytes) // 2


@dataclass
class MemoryText:
    """What a text shows of memory.

    meminfo: in bytes, by name. vmstat: in pages, by name. settings: of sysctl vm, by name; several of one name where
    the text has several. pressure: shares of time in per cent (avg10, avg60, avg300) by resource and kind, such as
    ("io", "full"), the highest. dirty_bytes, writeback_bytes: each sample of /proc/meminfo. release: the kernel's.
    """

    meminfo: dict[str, int] = field(default_factory=dict)
    vmstat: dict[str, int] = field(default_factory=dict)
    settings: dict[str, list[int]] = field(default_factory=dict)
    pressure: dict[tuple[str, str], tuple[float, float, float]] = field(default_factory=dict)
    dirty_bytes: list[int] = field(default_factory=list)
    writeback_bytes: list[int] = field(default_factory=list)
    release: str = ""

    @property
    def page_bytes(self) -> int | None:
        """The size of a page, by what both files count; None if nothing says it."""
        found = [
            self.meminfo[name] / self.vmstat[key]
            for name, key in _SIZES.items()
            if name in self.meminfo and self.vmstat.get(key, 0) >= _LEAST_PAGES
        ]
        return min(_PAGE_SIZES, key=lambda each: abs(each - median(found))) if found else None

    def in_bytes(self, pages: int) -> int:
        """Return the size of pages, of 4 KiB each if nothing says how large one is."""
        return pages * (self.page_bytes or _PAGE_SIZES[0])

    def setting(self, name: str) -> int | None:
        """Return the last value of a setting of sysctl vm; None if the text has none."""
        return self.settings[name][-1] if self.settings.get(name) else None

    @property
    def now_bytes(self) -> int | None:
        """The most that a sample has as dirty or under writeback; None if there is none."""
        pairs = [sum(pair) for pair in zip(self.dirty_bytes, self.writeback_bytes, strict=False)]
        if not pairs and "nr_dirty" in self.vmstat and "nr_writeback" in self.vmstat:
            pairs = [self.in_bytes(self.vmstat["nr_dirty"] + self.vmstat["nr_writeback"])]
        return max(pairs, default=None)

    def limits(self) -> Limits | None:
        """Return the machine's dirty limits; None if the text does not say them."""
        dirty, background = self._limit("dirty"), self._limit("dirty_background")
        if dirty is None or background is None:
            return None
        if background.low_bytes >= dirty.low_bytes:
            background = DirtyLimit(dirty.size_bytes // 2, dirty.low_bytes // 2, background.source)
        return Limits(dirty, background)

    def _limit(self, name: str) -> DirtyLimit | None:
        pages = self.vmstat.get("nr_dirty_threshold" if name == "dirty" else "nr_dirty_background_threshold")
        if pages is not None:
            return DirtyLimit(self.in_bytes(pages), self.in_bytes(pages), "vmstat")
        size_bytes, ratio = self.setting(f"{name}_bytes"), self.setting(f"{name}_ratio")
        if size_bytes:
            return DirtyLimit(size_bytes, size_bytes, "bytes")
        if ratio is None or ratio > 100 or (ratio == 0 and size_bytes is None):
            return None
        if (dirtyable := self.dirtyable_bytes()) is None:
            return None
        low_bytes, most_bytes = (each * ratio // 100 for each in dirtyable)
        return DirtyLimit(most_bytes, low_bytes, "ratio")

    def dirtyable_bytes(self) -> tuple[int, int] | None:
        """Return how much memory may be dirty, at least and at most, but for the kernel's reserve; None if unknown.

        Up to Linux 3.13 a machine with free swap counted anonymous memory too; those kernels have no MemAvailable. On
        32 bits with high memory, that is left out, and such texts do not say how much of it is free.
        """
        shown = {**self._of_vmstat(), **self.meminfo}
        if shown.get("HighTotal") or not {"MemFree", "Active(file)", "Inactive(file)"} <= shown.keys():
            return None
        least = shown["MemFree"] + shown["Active(file)"] + shown["Inactive(file)"]
        is_old = "MemAvailable" not in self.meminfo and shown.get("SwapFree", 0) > 0
        anonymous = shown.get("Active(anon)", 0) + shown.get("Inactive(anon)", 0)
        return least, least + (anonymous if is_old else 0)

    def _of_vmstat(self) -> dict[str, int]:
        names = {"nr_free_pages": "MemFree", "nr_active_file": "Active(file)", "nr_inactive_file": "Inactive(file)"}
        return {name: self.in_bytes(self.vmstat[key]) for key, name in names.items() if key in self.vmstat}


def several(found: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """Return the settings of dirty memory of which a text has different values."""
    return {name: found[name] for name in _SETTINGS if len(set(found.get(name, ()))) > 1}


def read_memory(lines: Iterable[tuple[str, str]]) -> MemoryText:
    """Return what lines show of memory, each with its file."""
    made = MemoryText()
    for path, line in lines:
        bare = line.strip()
        if path.startswith("/proc/sys/"):
            if (name := _SYSCTL_FILE.fullmatch(path)) and bare.isdecimal() and len(bare) < 19:
                made.settings.setdefault(name[1], []).append(int(bare))
        elif bare.endswith(" kB") and (found := _MEMINFO.fullmatch(bare)):
            _note_meminfo(made, found[1], int(found[2]) * _KIB)
        elif bare.startswith("nr_") and (found := _VMSTAT.fullmatch(bare)):
            made.vmstat[found[1]] = int(found[2])
        elif bare.startswith("vm") and (found := _SYSCTL.fullmatch(bare)):
            made.settings.setdefault(found[1], []).append(int(found[2]))
        elif path and (found := _PRESSURE.match(bare)):
            _note_pressure(made, path, found)
        if not made.release and "Linux" in bare and (found := _RELEASE.search(bare)):
            made.release = found[1]
    return made


def _note_meminfo(made: MemoryText, name: str, size_bytes: int) -> None:
    made.meminfo[name] = size_bytes
    if name == "Dirty":
        made.dirty_bytes.append(size_bytes)
    elif name == "Writeback" and len(made.writeback_bytes) < len(made.dirty_bytes):
        made.writeback_bytes.append(size_bytes)


def _note_pressure(made: MemoryText, path: str, found: re.Match[str]) -> None:
    of = _PRESSURE_FILE.fullmatch(path)
    if of is None:
        return  # of which resource, the line does not say
    shares = (float(found[2]), float(found[3]), float(found[4]))
    if max(shares) <= 100:
        key = of[1], found[1]
        made.pressure[key] = max(made.pressure.get(key, shares), shares)
