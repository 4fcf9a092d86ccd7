"""How the kernel takes values as published: a guest sets them one after the other, and reads them back."""

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

ASKED = "asked"  # the scenario of these runs
ASKED_BASE = "base"
_AGENT = "setter"
_MOST_BYTES = 1 << 16
_PAGE_BYTES = 4096
# /proc/vmstat computes them when it is read.
_LIMIT, _BACKGROUND = "nr_dirty_threshold", "nr_dirty_background_threshold"


@dataclass(frozen=True)
class Answer:
    """The kernel's answer. refused: keys that it rejected. now: the values of all keys afterwards.

    limit_bytes, background_bytes: the resulting thresholds in the guest.
    """

    refused: tuple[str, ...]
    now: Mapping[str, int]
    limit_bytes: int
    background_bytes: int

    def words(self, value: Value) -> str:
        """Return which settings did not take effect; empty if all did."""
        found = [f"{key} = {value.sysctl[key]} is rejected" for key in self.refused]
        for key, given in value.sysctl.items():
            wanted = parse_bytes(given) if key.endswith("_bytes") else int(given)
            if key not in self.refused and self.now[key] != wanted:
                found.append(f"{key} = {given} is cleared by a later setting, and reads {self.now[key]}")
        return "; ".join(found)


def asked_settings(value: Value) -> list[str]:
    """Return the changes to a spec for a short run with an agent that sets the value and reads it back."""
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
    """Read the kernel's answer from such a run. Raises InputError if it has none."""
    path = run / agent_log(_AGENT)
    try:
        lines = read_bytes(path, _MOST_BYTES).decode().splitlines()
        words = [printable(line).split() for line in lines if line.strip()]
        refused = tuple(line[1] for line in words if line[0] == "refused")
        now = {line[1]: int(line[2]) for line in words if line[0] == "now"}
        limit, background = now.pop(_LIMIT), now.pop(_BACKGROUND)
    except (OSError, ValueError, LookupError) as error:
        raise InputError(f"{path} has no answer of the kernel: {type(error).__name__}: {error}") from None
    return Answer(refused, now, limit * _PAGE_BYTES, background * _PAGE_BYTES)
