"""The machine's dirty limits, set to those of a spec for the time of one run."""

from collections.abc import Mapping
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.machine.changes import Setting, WayBack

_VM = Path("/proc/sys/vm")
# Two files show one limit: while one is in force, the other has 0.
_COUNTERPARTS = {
    "dirty_bytes": "dirty_ratio",
    "dirty_ratio": "dirty_bytes",
    "dirty_background_bytes": "dirty_background_ratio",
    "dirty_background_ratio": "dirty_background_bytes",
}


def set_limits(sysctl: Mapping[str, int | str], way_back: WayBack, vm: Path = _VM) -> None:
    """Set vm.dirty* settings; each is noted first. Raises WblabError."""
    for key, value in sysctl.items():
        name = key.removeprefix("vm.")
        try:
            _set(vm, name, str(value), way_back)
        except OSError as error:
            raise WblabError(f"cannot set {key}={value} on this machine: {error.strerror}") from None


def _set(vm: Path, name: str, value: str, way_back: WayBack) -> None:
    path = vm / name
    before = path.read_text().strip()
    if before == value:
        return
    back = path
    if before == "0" and name in _COUNTERPARTS:
        back = vm / _COUNTERPARTS[name]
        before = back.read_text().strip()
    way_back.note(Setting(path=str(path), new=value, back_path=str(back), back=before))
    path.write_text(value)
