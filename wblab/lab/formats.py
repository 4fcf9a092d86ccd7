"""The files that the lab writes and reads back: names, versions, and one way to write and to read each.

What a guest leaves in a run directory has its names in wblab/core/rundir.py.
"""

import json
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wblab.core.errors import InputError
from wblab.core.files import MOST_JSON_BYTES, read_json
from wblab.lab.held import replace_file

# A run directory, beside what the guest leaves: the record, and of a run on a machine itself what its command printed.
EXPERIMENT, CONSOLE, CONFIG, COMMAND_LOG = "experiment.json", "console.log", "kernel.config", "command.log"
HANDED = "handed"  # what a guest was given for a program of its user, for a repeat
# The directory of a study, or of a bisection, has the run directories in RUNS.
RUNS = "runs"
STUDY_FILE, ROWS, JOURNAL = "study.json", "rows", "journal.jsonl"
CELLS = "cells.json.zst"  # of a study that keeps no directories: it may have many
NOISY_MARK = ".noisy"  # in the name of a matrix's run
COLUMNS = ("run", "load", "kind", "metric", "value")  # of a table of runs, beside the axes, cell and seed
ROW_COLUMNS = ("digest", "kernel_build", "cpu", "made_with", "wall_s")  # of rows, beside the same and the metrics
OF_LOAD, KIND = ":", "kind"  # a row's column LOAD:METRIC has a metric of a load, LOAD:kind the load's kind
DIGESTS = "digests.json"  # of a part of a study: what its runs were when they were made
BISECTION_RECORD, BISECTION_LOG = "bisect.json", "git-bisect.log"
# The directory of an exploration is that of a matrix, with these in it.
DESIGN, ANALYSED, EXPLORED = "design.json", "analysis.json", "exploration.html"
ADVICE_FILE = "advice.json"  # beside the others in the directory of an advice
# The directory of a verification.
REPORT, VERDICTS = "report.html", "verdicts.json"
# Of a target of the atlas: a digest of what it was made of; and the verdicts of all its rows.
MADE_OF, TARGET_ROWS = "made-of", "target.json"
# The directory of a trial is that of a matrix, with a report, and the recommendations as they were then.
TRIED = "trial.toml"
PACKED = ".wblab"  # how the name of a packed file ends
PAGE = ".html"  # how the name of a page ends; of a picture, see wblab/plot/picture.py

_NUMBERS = re.compile(r"\[\s+((?:-?\d[\d.e+-]*,?\s+)+)\]")  # a list of them in JSON
UML, LIVE = "uml", "live"  # runs in a guest, and on a machine itself


@dataclass(frozen=True)
class Format:
    """A JSON file that says in `format` and `kind` what it is.

    where: what it lies in, for messages. kinds: what it may be.
    """

    where: str
    version: int
    kinds: tuple[str, ...]
    most_bytes: int = MOST_JSON_BYTES

    def head(self, kind: str = "") -> dict[str, Any]:
        """Return how the content of such a file begins; by default of the first kind."""
        return {"format": self.version, "kind": kind or self.kinds[0]}

    def read(self, path: Path) -> dict[str, Any]:
        """Return the content of such a file. Raises InputError, also for one of another version or kind."""
        content = read_object(path, self.where, self.most_bytes)
        if (version := content.get("format")) != self.version:
            raise InputError(
                f"{path} has format {_short(version)}, this lab reads {self.version}: use the lab that wrote it"
            )
        if (kind := content.get("kind")) not in self.kinds:
            raise InputError(f"{path} is of kind {_short(kind)}, not {' or '.join(self.kinds)}: is this {self.where}?")
        return content


RUN = Format("a run directory", 1, (UML, LIVE))
CAPTURE = Format("a run directory", 1, ("capture",))
STUDY = Format("the directory of a study", 1, ("study",), most_bytes=512 << 20)  # 100,000 cells, each with its spec
EXPLORATION = Format("the directory of an exploration", 1, ("explore",), most_bytes=256 << 20)
ADVICE = Format("the directory of an advice", 1, ("advise",), most_bytes=64 << 20)  # what could be tried, with its spec
BISECTION = Format("the directory of a bisection", 1, ("bisect",))
VERIFICATION = Format("the directory of a verification", 1, ("verify",))
TRIAL = Format("the directory of a trial", 2, ("trial",))
TARGET = Format("a target of an atlas", 1, ("target",))
EXPECTED = Format("the expected figures of a series", 1, ("expected",), most_bytes=1 << 20)
FIGURES = Format("the figures of a finding", 1, ("finding",), most_bytes=4 << 20)
REPEAT = Format("what repeats a run", 1, ("repeat",), most_bytes=4 << 20)
SITE = Format("a site", 1, ("site",), most_bytes=1 << 20)
PROGRESS = Format("a student's folder", 1, ("lesson",), most_bytes=1 << 20)
CLAIMED = Format("the verdicts of a finding", 1, ("verdicts",), most_bytes=1 << 20)
ANALYSIS = Format("the analysis of an exploration", 1, ("analysis",))
LOOKS = "looks"  # key of a study's `about`: the number of looks that decided how many seeds it has
SEALED = Format("a part of a study", 1, ("digests",), most_bytes=64 << 20)
COMPARISON = Format("what 'wblab compare --json' printed", 2, ("compare",))


def read_object(path: Path, where: str, most_bytes: int = MOST_JSON_BYTES) -> dict[str, Any]:
    """Return the JSON object in a file, which may be a stranger's; `where`: what it lies in. Raises InputError."""
    try:
        value = read_json(path, most_bytes)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}: is this {where}?") from None
    except ValueError as error:
        raise InputError(f"{path} is damaged: {' '.join(str(error).split())}") from None
    if not isinstance(value, dict):
        raise InputError(f"{path} is damaged: it is not a JSON object")
    return value


def write_json(path: Path, value: object, *, short: bool = False) -> None:
    """Write a JSON file at once: a reader never sees half of it. Raises OSError.

    short: lists of numbers have one line each.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False)
    if short:
        text = _NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text)
    with replace_file(path) as file:
        file.write(f"{text}\n".encode())


def now() -> str:
    """Return the time of day, as records have it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
