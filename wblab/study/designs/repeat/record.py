"""A record that repeats a run on any machine: its spec, its digest, and the inputs that the digest depends on.

It is small and names nothing of the machine where the run was made, so that it can be handed on without the run.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wblab.analysis.runs.digest import digest
from wblab.analysis.runs.run import Run, guest_spec
from wblab.core.check import check_spec
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.core.tables import to_table
from wblab.lab.formats import REPEAT
from wblab.lab.kernelname import variants_of
from wblab.lab.specfile import spec_of
from wblab.study.inputs import inputs_of

_MOST_INPUTS, _LONGEST_TEXT = 100, 500
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Record:
    """What repeats a run. digest: of its measurements. made_with: its inputs beside the spec, by name.

    kernel: its release, for readers. needs_kernel: the kernel was given by its path, which no other machine has, so the
    spec names none. may_lose: the trace may lose events, which otherwise fails a run.
    """

    spec: Spec
    digest: str
    made_with: Mapping[str, str]
    kernel: str
    needs_kernel: bool = False
    may_lose: bool = False

    @property
    def is_repeatable(self) -> bool:
        """Whether the same inputs give the same bytes: not by the host's clock."""
        return self.spec.clock.mode == "virtual"

    def to_json(self) -> dict[str, Any]:
        """Return the content of the file. Keys stay in order: that of loads and disks is part of the experiment."""
        about = {"kernel": self.kernel, "needs_kernel": self.needs_kernel, "may_lose": self.may_lose}
        about |= {"digest": self.digest}
        return REPEAT.head() | about | {"made_with": dict(self.made_with), "spec": to_table(self.spec)}


def record(spec: Spec, digest: str, made_with: Mapping[str, str], release: str) -> Record:
    """Return the record of a run of a spec. release: of its kernel."""
    is_path = os.sep in spec.kernel.name
    kernel = release + variants_of(spec.kernel.build)
    return Record(spec.on("") if is_path else spec, digest, made_with, kernel, needs_kernel=is_path)


def record_of(run: Run) -> Record:
    """Return the record of a run that has its directory. Raises InputError for a live run and for a damaged trace."""
    release = str((run.record.get("kernel") or {}).get("release", "unknown"))
    return record(guest_spec(run), digest(run), inputs_of(run.record), release)


def read_record(path: Path) -> Record:
    """Return the record in a file, which may be a stranger's. Raises InputError."""
    content = REPEAT.read(path)
    try:
        spec = spec_of(content["spec"], exact=True)
        check_spec(spec)
        if not _DIGEST.fullmatch(content["digest"]):
            raise ValueError("its digest is none")
        made_with, needs_kernel = _texts(content["made_with"]), content["needs_kernel"] is True
        may_lose = content.get("may_lose") is True
        return Record(spec, content["digest"], made_with, _text(content["kernel"]), needs_kernel, may_lose)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged ({type(error).__name__}: {error})") from None


def _texts(value: object) -> Mapping[str, str]:
    if not isinstance(value, dict) or len(value) > _MOST_INPUTS:
        raise TypeError(f"a table of at most {_MOST_INPUTS} entries was expected")
    return {_text(key): _text(item) for key, item in value.items()}


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        raise TypeError(f"a text of at most {_LONGEST_TEXT} characters was expected")
    return value
