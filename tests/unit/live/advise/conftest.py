"""The files of a synthetic machine, in a directory in place of /sys and /proc/sys."""

from pathlib import Path

import pytest
from support.advised import FILES, SITE

from wblab.live.advise import machinesite
from wblab.live.changes import permitted


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory with the machine's files; the lab uses it in place of /sys and /proc/sys."""
    place = tmp_path / "machine"
    for name, text in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(f"{text}\n")
    monkeypatch.setattr(permitted, "SYSCTLS", place)
    monkeypatch.setattr(permitted, "DISKS", place / "block")
    monkeypatch.setattr(permitted, "BDIS", place / "class/bdi")
    monkeypatch.setattr(machinesite, "_SYS", place)
    monkeypatch.setattr(machinesite, "find_site", lambda directory: SITE)
    return place
