"""The findings' reproducers as they are handed on: a directory with a finding's own files and the common ones."""

import shutil
from pathlib import Path

from wblab.lab.packages import tool_path
from wblab.lab.places import PRESETS

FINDINGS = PRESETS / "findings"
COMMON = FINDINGS / "reproduce"
NAMES = sorted(path.parent.name for path in FINDINGS.glob("*/reproduce"))
# What in-qemu.sh needs beside QEMU and the kernel.
NEEDED = ("busybox", "mkfs.ext4", "filefrag", "cpio", "gzip", "ldd", "timeout", "cc")


def hand_on(name: str, to: Path) -> Path:
    """Copy what reproduces a finding into the directory `to`, and return it."""
    for source in (COMMON, FINDINGS / name / "reproduce"):
        shutil.copytree(source, to, dirs_exist_ok=True)
    return to


def missing() -> str:
    """Return which of the programs that in-qemu.sh needs are not here."""
    return ", ".join(name for name in NEEDED if tool_path(name) is None)
