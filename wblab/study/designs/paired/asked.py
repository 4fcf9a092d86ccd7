"""What the kernel makes of values as they are written: set one after the other in a guest, and read back."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from wblab.core.errors import InputError
from wblab.core.files import read_bytes
from wblab.core.rundir import agent_log
from wblab.core.units import parse_bytes
from wblab.lab.printable import printable
from wblab.study.designs.paired.recommendations import Value

ASKED = "asked"  # the level of these runs on the axis of scenarios
ASKED_BASE = "base"
_AGENT = "setter"
_MOST_BYTES = 1 << 16
_PAGE_BYTES = 4096
# /proc/vmstat computes them as it is read.
_LIMIT, _BACKGROUND = "nr_dirty_threshold", "nr_dirty_background_threshold"


@dataclass(frozen=True)
class Answer:
    """What the kernel said. refused: keys. now: all keys that were set, as they read afterwards.

    limit_bytes, background_bytes: the thresholds that are in force then, in the memory of the guest.
    """

    refused: tuple[str, ...]
    now: Mapping[str, int]
    limit_bytes: int
    background_bytes: int

    def words(self, value: Value) -> str:
        """Return what came out otherwise than it was asked for; empty where nothing did."""
        said = [f"{key} = {value.sysctl[key]} is refused" for key in self.refused]
        for key, given in value.sysctl.items():
            wanted = parse_bytes(given) if key.endswith("_bytes") else int(given)
            if key not in self.refused and self.now[key] != wanted:
                said.append(f"{key} = {given} is cleared by what is set after it, and reads {self.now[key]}")
        return "; ".join(said)


def asked_settings(value: Value) -> list[str]:
    """Return the changes to a spec that make its run ask: a short one, with an agent that sets and reads back."""
    lines = ["trap 'exit 0' TERM"]
    for key, given in value.sysctl.items():
        number = parse_bytes(given) if key.endswith("_bytes") else int(given)
        path = shlex.quote(f"/proc/sys/{key.replace('.', '/')}")
        lines.append(f"echo {number} 2>/dev/null > {path} || echo refused {key}")
    lines += [f"echo now {key} $(cat /proc/sys/{key.replace('.', '/')})" for key in value.sysctl]
    lines += [f"echo now $(grep '^{name} ' /proc/vmstat)" for name in (_LIMIT, _BACKGROUND)]
    lines.append("while :; do sleep 1; done")
    argv = ["/bin/sh", "-c", "\n".join(lines)]
    return [
        "trace.events=[]",
        "load.l1.wait=1s",
        "load.l1.size=64KiB",
        "load.l2.wait=1s",
        "load.l2.size=64KiB",
        f"agent.{_AGENT}.argv={json.dumps(argv)}",
    ]


def read_answer(run: Path) -> Answer:
    """Return what a run that asked was told. Raises InputError for one that does not have it."""
    path = run / agent_log(_AGENT)
    try:
        lines = read_bytes(path, _MOST_BYTES).decode().splitlines()
        words = [printable(line).split() for line in lines if line.strip()]
        refused = tuple(line[1] for line in words if line[0] == "refused")
        now = {line[1]: int(line[2]) for line in words if line[0] == "now"}
        limit, background = now.pop(_LIMIT), now.pop(_BACKGROUND)
    except (OSError, ValueError, LookupError) as error:
        raise InputError(f"{path} does not say what the kernel took: {type(error).__name__}: {error}") from None
    return Answer(refused, now, limit * _PAGE_BYTES, background * _PAGE_BYTES)
