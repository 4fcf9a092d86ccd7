"""What some verbs need of this machine beside what every run does: a kernel, tracing, control groups, packages."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.host.environment import Finding
from wblab.host.machine import processor_flags, tool_versions
from wblab.kernels import Kernel, catalog, packaged
from wblab.kernels.wanted import find_kernel
from wblab.lab import extras
from wblab.machine.block import mounted
from wblab.machine.cgroup import cgroup_root, controllers_of

BUILD = "wblab kernel build"
KERNEL = "kernel"

_FILESYSTEMS = Path("/proc/filesystems")
_CONTROLLERS = ("io", "memory")
_X86_64_V2 = ("cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3")  # as the x86-64 psABI has it
_FOR = {
    "explore": "explore, advise, compare, matrix tables",
    "pages": "pages in HTML, export --perfetto",
    "live": "monitor, mitigate",
    "cluster": "--cluster",
    "notebooks": "Jupyter, the notebooks in analysis/",
}


def abilities(kernel: Finding) -> list[Finding]:
    """Run every check of what only some verbs need. kernel: what `built` found."""
    return [
        check_processor(processor_flags()),
        kernel,
        check_trace_cmd(tool_versions()),
        check_tracefs(mounted("tracefs")),
        check_groups(cgroup_root()),
        *check_extras(),
    ]


def built(find: Callable[[], Kernel | None] = find_kernel) -> Finding:
    """Return whether there is a kernel, and which."""
    try:
        known = catalog.load()
        found, default = find(), known.find(known.default)
        package = packaged.describe(found, default, known)
    except WblabError as error:
        return Finding(KERNEL, False, str(error), BUILD, needed=False)
    words = ", ".join(filter(None, [found.release if found else "none built yet", package]))
    return Finding(KERNEL, found is not None, words, BUILD, needed=False)


def check_processor(flags: Collection[str]) -> Finding:
    """Look for what NumPy's packages are built for; without it Python ends with an illegal instruction."""
    missing = [flag for flag in _X86_64_V2 if flag not in flags]
    found = f"without {', '.join(missing)}" if missing else "x86-64-v2 or better"
    advice = "in a virtual machine, show it a newer processor (QEMU: -cpu max): runs do without, NumPy does not"
    return Finding("processor", not missing, found, advice, needed=False)


def check_trace_cmd(versions: Mapping[str, str]) -> Finding:
    """Look for the recorder of traces. versions: of the tools that are here."""
    version = versions.get("trace-cmd", "")
    advice = "install trace-cmd: runs need it to show the page cache and to explain pauses"
    return Finding("trace-cmd", bool(version), version or "not found", advice, needed=False)


def check_tracefs(places: Sequence[Path], filesystems: Path = _FILESYSTEMS) -> Finding:
    """Look for tracing of this kernel. places: where it is mounted. filesystems: the file that lists all kinds."""
    there = bool(places) or "tracefs" in filesystems.read_text().split()
    found = str(places[0]) if places else "not mounted: live mode mounts it" if there else "this kernel has none"
    whose = "" if os.geteuid() == 0 or not there else "; for root only: run live mode with sudo"
    return Finding("tracefs", there, found + whose, "boot a kernel with tracing: live mode needs it", needed=False)


def check_groups(root: Path | None) -> Finding:
    """Look for controllers of control groups. root: where these are mounted."""
    has = _controllers(root) if root else []
    missing = [name for name in _CONTROLLERS if name not in has]
    found = f"{root}, with {', '.join(name for name in _CONTROLLERS if name in has) or 'neither io nor memory'}"
    advice = "boot with systemd.unified_cgroup_hierarchy=1: live mode and mitigate need cgroup v2"
    return Finding("control groups", not missing, found if root else "cgroup v2 is not mounted", advice, needed=False)


def _controllers(group: Path) -> list[str]:
    try:
        return controllers_of(group)
    except OSError:
        return []


def check_extras(is_there: Callable[[str], bool] = extras.is_there) -> list[Finding]:
    """Look for optional packages. One command installs all that are not there."""
    missing = [name for name in _FOR if not is_there(name)]
    advice = extras.command(missing) if missing else ""
    return [
        Finding(
            f"extra {name}",
            name not in missing,
            f"{'not installed' if name in missing else 'installed'}: {what}",
            advice if name in missing else "",
            needed=False,
        )
        for name, what in _FOR.items()
    ]
